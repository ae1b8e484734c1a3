import { type AbiEvent, pad, parseAbi, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import {
  FEE_MANAGER,
  isVirtualAddress,
  RECEIVE_POLICY_GUARD,
  STABLECOIN_DEX,
  TIP20_FACTORY,
  TIP20_PREFIX,
  TIP403_REGISTRY,
  zoneOf,
} from './addresses.js'
import type { ChainEvent, TransferArgs } from './event-types.js'
import { type LogDecoder, logDecoder } from './log-decoder.js'
import type { RawLog } from './rpc-answers.js'

/** LayerZero's omnichain fungible token. Amounts are in the units of this chain's token. */
const OFT = parseAbi([
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
])

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
      'NextQuoteTokenSet',
      'LogoURIUpdated',
      'RoleMembershipUpdated',
      'RoleAdminUpdated',
      'RewardDistributed',
      'RewardRecipientSet',
    ],
  },
  { abi: Abis.tip20Factory, emits: (address: string) => address === TIP20_FACTORY, names: ['TokenCreated'] },
  {
    abi: Abis.stablecoinDex,
    emits: (address: string) => address === STABLECOIN_DEX,
    names: ['PairCreated', 'OrderPlaced', 'OrderFilled', 'OrderFlipped', 'FlipFailed', 'OrderCancelled'],
  },
  {
    abi: Abis.tip403Registry,
    emits: (address: string) => address === TIP403_REGISTRY,
    names: [
      'PolicyCreated',
      'PolicyAdminUpdated',
      'WhitelistUpdated',
      'BlacklistUpdated',
      'CompoundPolicyCreated',
      'ReceivePolicyUpdated',
    ],
  },
  {
    abi: Abis.feeManager,
    emits: (address: string) => address === FEE_MANAGER,
    names: ['UserTokenSet', 'ValidatorTokenSet', 'FeesDistributed'],
  },
  // The pools' Mint and Burn differ from those of a token.
  {
    abi: Abis.feeAmm,
    emits: (address: string) => address === FEE_MANAGER,
    prefix: 'FeePool',
    names: ['Mint', 'Burn', 'RebalanceSwap'],
  },
  {
    abi: Abis.receivePolicyGuard,
    emits: (address: string) => address === RECEIVE_POLICY_GUARD,
    names: ['TransferBlocked', 'ReceiptClaimed', 'ReceiptBurned'],
  },
  {
    abi: Abis.zonePortal,
    emits: (address: string) => zoneOf(address) !== null,
    prefix: 'Zone',
    names: ['DepositMade', 'WithdrawalProcessed', 'DepositBounceBack', 'RefundClaimed'],
  },
  { abi: OFT, emits: () => true, isAnybodys: true, names: ['OFTSent', 'OFTReceived'] },
]

/** The events that ingest reads, as the ABIs of the chain's contracts have them. */
export const READ_EVENTS: readonly AbiEvent[] = READ_FROM.flatMap(({ abi, names }) =>
  (abi as readonly { type: string; name?: string }[]).flatMap((item) =>
    item.type === 'event' && names.includes(item.name ?? '') ? [item as AbiEvent] : [],
  ),
)

/** The first topics of these events, by which eth_getLogs filters. */
export const topicsOf = (names: readonly ChainEvent['name'][]): string[] =>
  READ_FROM.flatMap(({ abi, names: read }) =>
    abi.flatMap((item) =>
      item.type === 'event' && read.includes(item.name) && (names as readonly string[]).includes(item.name)
        ? [toEventSelector(item)]
        : [],
    ),
  )

/** With `isAnybodys`, any contract may emit anything under the topic, so a log that does not fit is ignored. */
type Known = { name: string; emits: (address: string) => boolean; isAnybodys: boolean; decode: LogDecoder }
const byTopic = new Map<string, Known>()
for (const { abi, emits, names, prefix = '', isAnybodys = false } of READ_FROM) {
  for (const item of abi) {
    if (item.type !== 'event' || !names.includes(item.name)) continue
    byTopic.set(toEventSelector(item), { name: `${prefix}${item.name}`, emits, isAnybodys, decode: logDecoder(item) })
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

const transfer = byTopic.get(TRANSFER) as Known

/**
 * The arguments of a TIP-20 token's transfer; null for every other log. Throws when its data does not fit its topic.
 */
export const readTransfer = (log: RawLog): TransferArgs | null =>
  log.topics[0] === TRANSFER && transfer.emits(log.address) ? (transfer.decode(log) as TransferArgs) : null

function argsOrNull({ decode }: Known, log: RawLog): ReturnType<LogDecoder> | null {
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
  const known = topic === undefined ? undefined : byTopic.get(topic)
  if (!known?.emits(log.address) || isOtherTransfer(log)) return null
  const args = known.isAnybodys ? argsOrNull(known, log) : known.decode(log)
  if (args === null) return null
  return {
    name: known.name,
    args,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    txHash: log.transactionHash,
    address: log.address,
  } as ChainEvent
}
