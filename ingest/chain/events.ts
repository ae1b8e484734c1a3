import { pad, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import type { RawLog } from '../sources/answers.js'
import {
  FEE_MANAGER,
  isVirtualAddress,
  RECEIVE_POLICY_GUARD,
  STABLECOIN_DEX,
  TIP20_FACTORY,
  TIP20_PREFIX,
  TIP403_REGISTRY,
} from './addresses.js'
import { type LogDecoder, logDecoder } from './log-decoder.js'

/** Where a log stands. `block_number` and `log_index` fit a double. */
type LogPosition = { blockNumber: number; logIndex: number; txHash: string; address: string }

type TransferArgs = { from: string; to: string; amount: bigint }

type PolicyLog =
  | { name: 'TransferPolicyUpdate'; args: { updater: string; newPolicyId: bigint } }
  | { name: 'PolicyCreated'; args: { policyId: bigint; updater: string; policyType: number } }
  | { name: 'PolicyAdminUpdated'; args: { policyId: bigint; updater: string; admin: string } }
  | { name: 'WhitelistUpdated'; args: { policyId: bigint; updater: string; account: string; allowed: boolean } }
  | { name: 'BlacklistUpdated'; args: { policyId: bigint; updater: string; account: string; restricted: boolean } }
  | {
      name: 'CompoundPolicyCreated'
      args: {
        policyId: bigint
        creator: string
        senderPolicyId: bigint
        recipientPolicyId: bigint
        mintRecipientPolicyId: bigint
      }
    }
  | {
      name: 'ReceivePolicyUpdated'
      args: { account: string; senderPolicyId: bigint; tokenFilterId: bigint; recoveryAuthority: string }
    }

type FeePoolArgs = { userToken: string; validatorToken: string }
type FeeLog =
  | { name: 'UserTokenSet'; args: { user: string; token: string } }
  | { name: 'ValidatorTokenSet'; args: { validator: string; token: string } }
  | { name: 'FeesDistributed'; args: { validator: string; token: string; amount: bigint } }
  | {
      name: 'FeePoolMint'
      args: FeePoolArgs & { sender: string; to: string; amountValidatorToken: bigint; liquidity: bigint }
    }
  | {
      name: 'FeePoolBurn'
      args: FeePoolArgs & {
        sender: string
        to: string
        amountUserToken: bigint
        amountValidatorToken: bigint
        liquidity: bigint
      }
    }
  | { name: 'FeePoolRebalanceSwap'; args: FeePoolArgs & { swapper: string; amountIn: bigint; amountOut: bigint } }

type HoldArgs = { token: string; receiver: string; blockedNonce: bigint; amount: bigint }
type HoldLog =
  | { name: 'TransferBlocked'; args: HoldArgs & { receipt: string } }
  | { name: 'ReceiptClaimed'; args: HoldArgs & { originator: string; caller: string; to: string } }
  | { name: 'ReceiptBurned'; args: HoldArgs & { originator: string; caller: string } }

type OrderArgs = {
  orderId: bigint
  maker: string
  token: string
  amount: bigint
  isBid: boolean
  tick: number
  flipTick: number
}
type DexLog =
  | { name: 'PairCreated'; args: { key: string; base: string; quote: string } }
  | { name: 'OrderPlaced'; args: OrderArgs & { isFlipOrder: boolean } }
  | {
      name: 'OrderFilled'
      args: { orderId: bigint; maker: string; taker: string; amountFilled: bigint; partialFill: boolean }
    }
  | { name: 'OrderFlipped'; args: OrderArgs }
  | { name: 'FlipFailed'; args: { orderId: bigint; maker: string; reason: string } }
  | { name: 'OrderCancelled'; args: { orderId: bigint } }

/** The events that ingest reads, addresses in lower case. Those of the fee manager's pools are called FeePool…. */
export type ChainEvent = LogPosition &
  (
    | {
        name: 'TokenCreated'
        args: { token: string; name: string; symbol: string; currency: string; quoteToken: string; admin: string }
      }
    | { name: 'QuoteTokenUpdate'; args: { newQuoteToken: string } }
    | { name: 'Transfer'; args: TransferArgs }
    | { name: 'Mint'; args: { to: string; amount: bigint } }
    | { name: 'Burn' | 'BurnBlocked'; args: { from: string; amount: bigint } }
    | { name: 'SupplyCapUpdate'; args: { updater: string; newSupplyCap: bigint } }
    | { name: 'NextQuoteTokenSet'; args: { updater: string; nextQuoteToken: string } }
    | { name: 'LogoURIUpdated'; args: { updater: string; newLogoURI: string } }
    | { name: 'PauseStateUpdate'; args: { updater: string; isPaused: boolean } }
    | { name: 'RoleMembershipUpdated'; args: { role: string; account: string; sender: string; hasRole: boolean } }
    | { name: 'RoleAdminUpdated'; args: { role: string; newAdminRole: string; sender: string } }
    | { name: 'RewardDistributed'; args: { funder: string; amount: bigint } }
    | { name: 'RewardRecipientSet'; args: { holder: string; recipient: string } }
    | PolicyLog
    | FeeLog
    | HoldLog
    | DexLog
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
  // The pools' Mint and Burn are not those of a token.
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
]

/** The first topics of the events of these names: what eth_getLogs narrows by. */
export const topicsOf = (names: readonly ChainEvent['name'][]): string[] =>
  READ_FROM.flatMap(({ abi, names: read }) =>
    abi.flatMap((item) =>
      item.type === 'event' && read.includes(item.name) && (names as readonly string[]).includes(item.name)
        ? [toEventSelector(item)]
        : [],
    ),
  )

type Known = { name: string; emits: (address: string) => boolean; decode: LogDecoder }
const byTopic = new Map<string, Known>()
for (const { abi, emits, names, prefix = '' } of READ_FROM) {
  for (const item of abi) {
    if (item.type !== 'event' || !names.includes(item.name)) continue
    byTopic.set(toEventSelector(item), { name: `${prefix}${item.name}`, emits, decode: logDecoder(item) })
  }
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const DEX_TOPIC = pad(STABLECOIN_DEX)

/** Where the address starts in a topic. */
const TOPIC_ADDRESS = 26

/**
 * Most logs are transfers between accounts. Those that are read go to and from the DEX, come from the token itself, which
 * pays rewards, or have a virtual address at an end.
 */
function isOtherTransfer({ address, topics }: RawLog): boolean {
  if (topics[0] !== TRANSFER) return false
  const from = topics[1] ?? ''
  const to = topics[2] ?? ''
  if (from === DEX_TOPIC || to === DEX_TOPIC || isVirtualAddress(from) || isVirtualAddress(to)) return false
  return !(from.startsWith('20c0', TOPIC_ADDRESS) && from.endsWith(address.slice(2)))
}

const transfer = byTopic.get(TRANSFER) as Known

/** What a transfer of a TIP-20 token moves; null for every other log. Throws when its data does not fit its topic. */
export const readTransfer = (log: RawLog): TransferArgs | null =>
  log.topics[0] === TRANSFER && transfer.emits(log.address) ? (transfer.decode(log) as TransferArgs) : null

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
