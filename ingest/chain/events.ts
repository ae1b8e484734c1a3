import { pad, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import type { RawLog } from '../sources/answers.js'
import { STABLECOIN_DEX, TIP20_FACTORY, TIP20_PREFIX, TIP403_REGISTRY } from './addresses.js'
import { type LogDecoder, logDecoder } from './log-decoder.js'

/** Where a log stands. `block_number` and `log_index` fit a double. */
type LogPosition = { blockNumber: number; logIndex: number; txHash: string; address: string }

/** The events that ingest reads, addresses in lower case. */
export type ChainEvent = LogPosition &
  (
    | {
        name: 'TokenCreated'
        args: { token: string; name: string; symbol: string; currency: string; quoteToken: string; admin: string }
      }
    | { name: 'QuoteTokenUpdate'; args: { newQuoteToken: string } }
    | { name: 'Transfer'; args: { from: string; to: string; amount: bigint } }
    | { name: 'Mint'; args: { to: string; amount: bigint } }
    | { name: 'Burn' | 'BurnBlocked'; args: { from: string; amount: bigint } }
    | { name: 'SupplyCapUpdate'; args: { updater: string; newSupplyCap: bigint } }
    | { name: 'PauseStateUpdate' | 'TransferPolicyUpdate'; args: object }
    | { name: 'PolicyAdminUpdated'; args: { policyId: bigint } }
    | {
        name: 'OrderPlaced'
        args: {
          orderId: bigint
          maker: string
          token: string
          amount: bigint
          isBid: boolean
          tick: number
          isFlipOrder: boolean
          flipTick: number
        }
      }
    | { name: 'OrderFilled'; args: { orderId: bigint; maker: string; taker: string; amountFilled: bigint } }
  )

const READ_FROM = [
  {
    abi: Abis.tip20,
    emits: (address: string) => address.startsWith(TIP20_PREFIX),
    names: [
      'Transfer',
      'Mint',
      'Burn',
      'BurnBlocked',
      'SupplyCapUpdate',
      'PauseStateUpdate',
      'TransferPolicyUpdate',
      'QuoteTokenUpdate',
    ],
  },
  { abi: Abis.tip20Factory, emits: (address: string) => address === TIP20_FACTORY, names: ['TokenCreated'] },
  {
    abi: Abis.stablecoinDex,
    emits: (address: string) => address === STABLECOIN_DEX,
    names: ['OrderPlaced', 'OrderFilled'],
  },
  { abi: Abis.tip403Registry, emits: (address: string) => address === TIP403_REGISTRY, names: ['PolicyAdminUpdated'] },
]

type Known = { name: string; emits: (address: string) => boolean; decode: LogDecoder }
const byTopic = new Map<string, Known>()
for (const { abi, emits, names } of READ_FROM) {
  for (const item of abi) {
    if (item.type !== 'event' || !names.includes(item.name)) continue
    byTopic.set(toEventSelector(item), { name: item.name, emits, decode: logDecoder(item) })
  }
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const DEX_TOPIC = pad(STABLECOIN_DEX)

/** Most logs are transfers between accounts; only those to and from the DEX are read. */
const isOtherTransfer = ({ topics }: RawLog): boolean =>
  topics[0] === TRANSFER && topics[1] !== DEX_TOPIC && topics[2] !== DEX_TOPIC

/** The event that a log is, or null when it is none that ingest reads. Throws when its data does not fit its topic. */
export function decodeLog(log: RawLog): ChainEvent | null {
  const topic = log.topics[0]
  const known = topic === undefined ? undefined : byTopic.get(topic)
  if (!known?.emits(log.address) || isOtherTransfer(log)) return null
  return {
    name: known.name,
    args: known.decode(log),
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    txHash: log.transactionHash,
    address: log.address,
  } as ChainEvent
}
