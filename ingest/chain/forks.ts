import type { ForkTime } from '../../clickhouse/chain/forks.js'
import type { Network } from './networks.js'

/** A fork of the chain: when it came to Tempo's main network, in unix seconds, and what it changes for Plumbline. */
type Fork = { name: string; mainnetTime: number | null; changes: string; handledSince: string }

/** What a fork has brought that Plumbline reads; null where the time is not known, or differs between networks. */
const fork = (name: string, mainnetTime: string | null, changes: string, handledSince = '0.1.0'): Fork => ({
  name,
  mainnetTime: mainnetTime === null ? null : Date.parse(mainnetTime) / 1000,
  changes,
  handledSince,
})

/** The forks that this version handles, oldest first. A later one may bring events, roles and rules that it does not know. */
export const HANDLED_FORKS: readonly Fork[] = [
  fork('T0', null, 'the chain as it began'),
  fork('T1', null, 'nothing that is read'),
  fork('T1A', null, 'nothing that is read'),
  fork('T1B', null, 'nothing that is read'),
  fork('T1C', null, 'nothing that is read'),
  fork('T2', null, 'nothing that is read'),
  fork('T3', null, 'virtual addresses: a transfer to one has two logs; a paused token is not quoted'),
  fork('T4', null, 'nothing that is read'),
  fork('T5', null, 'orders flip under the same id, or fail to with a log; payment channels; logos'),
  fork('T6', null, 'receive policies hold transfers back'),
  fork('T7', '2026-07-09', 'rewards can no longer be distributed; the base fee moves'),
  fork('T8', '2026-07-30', 'rewards no longer accrue'),
  fork('T9', null, 'the registry knows the policy of a token'),
  fork('T10', null, 'a factory of zones'),
  fork('T11', '2026-09-10T14:00Z', 'nothing that is read'),
  fork(
    'T12',
    '2026-10-13T14:00Z',
    'burnAt and its role; quotes round at each order and cost gas by order; nonces of 64 bits',
  ),
]

const names = new Set(HANDLED_FORKS.map(({ name }) => name))

/** Whether this version handles a fork, by the name that nodes give it. */
export const isHandled = (name: string): boolean => names.has(name)

/**
 * When each fork came to the chain: as its node lists them (null: it lists none), and of others the time on the main network,
 * if that is the chain. T3 is older than any list: where it is missing, it counts as there from the first block on.
 */
export function forkTimes(network: Network, listed: readonly ForkTime[] | null): ForkTime[] {
  const times = new Map([['T3', 0]])
  if (network === 'tempo')
    for (const { name, mainnetTime } of HANDLED_FORKS) if (mainnetTime !== null) times.set(name, mainnetTime)
  for (const { name, activation_time } of listed ?? []) times.set(name, activation_time)
  return [...times].map(([name, activation_time]) => ({ name, activation_time }))
}
