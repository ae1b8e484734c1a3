import { type AbiEvent, pad, toEventSelector } from 'viem'
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
import type { ChainEvent, TransferArgs } from './event-types.js'
import { type LogDecoder, logDecoder } from './log-decoder.js'
import type { RawLog } from './rpc-answers.js'

const is = (contract: string) => (address: string) => address === contract

type Read = { abi: readonly AbiEvent[]; emits: (address: string) => boolean; prefix?: string; isAnybodys?: boolean }
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
  { abi: OFT_EVENTS, emits: () => true, isAnybodys: true },
]

/** The events that ingest reads, as the ABIs of the chain's contracts have them. */
export const READ_EVENTS: readonly AbiEvent[] = READ_FROM.flatMap(({ abi }) => abi)

/** The first topics of these events, by which eth_getLogs filters. */
export const topicsOf = (names: readonly ChainEvent['name'][]): string[] =>
  READ_EVENTS.filter(({ name }) => (names as readonly string[]).includes(name)).map((event) => toEventSelector(event))

/** With `isAnybodys`, any contract may emit anything under the topic, so a log that does not fit is ignored. */
type EventReader = { name: string; emits: (address: string) => boolean; isAnybodys: boolean; decode: LogDecoder }
const byTopic = new Map<string, EventReader>()
for (const { abi, emits, prefix = '', isAnybodys = false } of READ_FROM) {
  for (const event of abi) {
    byTopic.set(toEventSelector(event), {
      name: `${prefix}${event.name}`,
      emits,
      isAnybodys,
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

/**
 * The arguments of a TIP-20 token's transfer; null for every other log. Throws when its data does not fit its topic.
 */
export const readTransfer = (log: RawLog): TransferArgs | null =>
  log.topics[0] === TRANSFER && transfer.emits(log.address) ? (transfer.decode(log) as TransferArgs) : null

function argsOrNull({ decode }: EventReader, log: RawLog): ReturnType<LogDecoder> | null {
  try {
    return decode(log)
  } catch {
    return null
  }
}

/**
 * The event of a log, or null if ingest does not read it. Throws when the data of one of the chain's own contracts does
 * not fit its topic.
 */
export function decodeLog(log: RawLog): ChainEvent | null {
  const topic = log.topics[0]
  const reader = topic === undefined ? undefined : byTopic.get(topic)
  if (!reader?.emits(log.address) || isOtherTransfer(log)) return null
  const args = reader.isAnybodys ? argsOrNull(reader, log) : reader.decode(log)
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
