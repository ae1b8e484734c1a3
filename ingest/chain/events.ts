import { type AbiEvent, pad, toEventSelector } from 'viem'
import type { UnknownEvent } from '../../clickhouse/chain/unknown-events.js'
import { RECEIVE_POLICY_GUARD } from '../../clickhouse/holders/transfers.js'
import {
  FEE_AMM_EVENTS,
  FEE_MANAGER_EVENTS,
  OFT_EVENTS,
  RECEIVE_POLICY_GUARD_EVENTS,
  STABLECOIN_DEX_EVENTS,
  TIP20_EVENTS,
  TIP20_FACTORY_EVENTS,
  TIP403_EVENTS,
  ZONE_PORTAL_EVENTS,
} from './abis.js'
import {
  FEE_MANAGER,
  isVirtualAddress,
  STABLECOIN_DEX,
  TIP20_FACTORY,
  TIP20_PREFIX,
  TIP403_REGISTRY,
  zoneOf,
} from './addresses.js'
import { chainContract } from './contracts.js'
import type { ChainEvent, TransferArgs } from './event-types.js'
import { type LogDecoder, logDecoder } from './log-decoder.js'
import type { RawLog } from './rpc-answers.js'

const is = (contract: string) => (address: string) => address === contract

type Read = { abi: readonly AbiEvent[]; emits: (address: string) => boolean; prefix?: string }
const READ_FROM: readonly Read[] = [
  { abi: TIP20_EVENTS, emits: (address) => address.startsWith(TIP20_PREFIX) },
  { abi: TIP20_FACTORY_EVENTS, emits: is(TIP20_FACTORY) },
  { abi: STABLECOIN_DEX_EVENTS, emits: is(STABLECOIN_DEX) },
  { abi: TIP403_EVENTS, emits: is(TIP403_REGISTRY) },
  { abi: FEE_MANAGER_EVENTS, emits: is(FEE_MANAGER) },
  // The pools' Mint and Burn differ from those of a token.
  { abi: FEE_AMM_EVENTS, emits: is(FEE_MANAGER), prefix: 'FeePool' },
  { abi: RECEIVE_POLICY_GUARD_EVENTS, emits: is(RECEIVE_POLICY_GUARD) },
  { abi: ZONE_PORTAL_EVENTS, emits: (address) => zoneOf(address) !== null, prefix: 'Zone' },
  // Any contract may emit anything under these topics.
  { abi: OFT_EVENTS, emits: () => true },
]

/** The events that ingest reads, as the ABIs of the chain's contracts have them. */
export const READ_EVENTS: readonly AbiEvent[] = READ_FROM.flatMap(({ abi }) => abi)

/** The first topics of these events, by which eth_getLogs filters. */
export const topicsOf = (names: readonly ChainEvent['name'][]): string[] =>
  READ_EVENTS.filter(({ name }) => (names as readonly string[]).includes(name)).map((event) => toEventSelector(event))

type EventReader = { name: string; emits: (address: string) => boolean; decode: LogDecoder }
const byTopic = new Map<string, EventReader>()
for (const { abi, emits, prefix = '' } of READ_FROM) {
  for (const event of abi) {
    byTopic.set(toEventSelector(event), {
      name: `${prefix}${event.name}`,
      emits,
      decode: logDecoder(event),
    })
  }
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const DEX_TOPIC = pad(STABLECOIN_DEX)

/** Where the address starts in a topic. */
const TOPIC_ADDRESS = 26

/**
 * Most logs are transfers between accounts and are skipped. The transfers that are read go to or from the DEX, come
 * from the token itself, which pays rewards, or have a virtual address at one end.
 */
function isOtherTransfer({ address, topics }: RawLog): boolean {
  if (topics[0] !== TRANSFER) return false
  const from = topics[1] ?? ''
  const to = topics[2] ?? ''
  if (from === DEX_TOPIC || to === DEX_TOPIC || isVirtualAddress(from) || isVirtualAddress(to)) return false
  return !(from.startsWith('20c0', TOPIC_ADDRESS) && from.endsWith(address.slice(2)))
}

const transfer = byTopic.get(TRANSFER) as EventReader

/** The arguments of a TIP-20 token's transfer; null for every other log. */
export const readTransfer = (log: RawLog): TransferArgs | null =>
  log.topics[0] === TRANSFER && transfer.emits(log.address) ? (argsOrNull(transfer, log) as TransferArgs | null) : null

function argsOrNull({ decode }: EventReader, log: RawLog): ReturnType<LogDecoder> | null {
  try {
    return decode(log)
  } catch {
    return null
  }
}

/** The event of a log, or null if ingest does not read it, or its data does not fit its topic. */
export function decodeLog(log: RawLog): ChainEvent | null {
  const topic = log.topics[0]
  const reader = topic === undefined ? undefined : byTopic.get(topic)
  if (!reader?.emits(log.address) || isOtherTransfer(log)) return null
  const args = argsOrNull(reader, log)
  if (args === null) return null
  return {
    name: reader.name,
    args,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    txHash: log.transactionHash,
    address: log.address,
  } as ChainEvent
}

/** A Transfer that is not decoded, because nothing but its shape matters: two addresses and an amount. */
const fitsTransfer = ({ topics, data }: RawLog): boolean => topics.length === 3 && data.length === '0x'.length + 64

/**
 * Why a log of one of the chain's own contracts is not understood, as `reason` of UnknownEvent; null if it is, and for the
 * logs of all other contracts. `event` is what decodeLog returned for it.
 */
export function unknownReason(log: RawLog, event: ChainEvent | null): UnknownEvent['reason'] | null {
  if (event !== null) return null
  const contract = chainContract(log.address)
  if (contract === undefined) return null
  const topic = log.topics[0] ?? ''
  if (!contract.topics.has(topic)) return 'topic'
  if (topic === TRANSFER) return fitsTransfer(log) ? null : 'data'
  return byTopic.get(topic)?.emits(log.address) ? 'data' : null
}
