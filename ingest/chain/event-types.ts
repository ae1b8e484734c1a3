import type { PlacedArgs } from '../../clickhouse/exchange/books.js'

/** A log's position. `block_number` and `log_index` fit a double. */
type LogPosition = { blockNumber: number; logIndex: number; txHash: string; address: string }

export type TransferArgs = { from: string; to: string; amount: bigint }

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

type DexLog =
  | { name: 'PairCreated'; args: { key: string; base: string; quote: string } }
  | { name: 'OrderPlaced'; args: PlacedArgs & { isFlipOrder: boolean } }
  | {
      name: 'OrderFilled'
      args: { orderId: bigint; maker: string; taker: string; amountFilled: bigint; partialFill: boolean }
    }
  | { name: 'OrderFlipped'; args: PlacedArgs }
  | { name: 'FlipFailed'; args: { orderId: bigint; maker: string; reason: string } }
  | { name: 'OrderCancelled'; args: { orderId: bigint } }

type BridgeLog =
  | { name: 'OFTSent'; args: { dstEid: number; fromAddress: string; amountSentLD: bigint; amountReceivedLD: bigint } }
  | { name: 'OFTReceived'; args: { srcEid: number; toAddress: string; amountReceivedLD: bigint } }
  | { name: 'ZoneDepositMade'; args: { sender: string; token: string; netAmount: bigint; fee: bigint } }
  | { name: 'ZoneWithdrawalProcessed'; args: { to: string; token: string; amount: bigint; callbackSuccess: boolean } }
  | { name: 'ZoneDepositBounceBack'; args: { tempoRefundRecipient: string; token: string; amount: bigint } }
  | { name: 'ZoneRefundClaimed'; args: { recipient: string; token: string; amount: bigint } }

/**
 * The events that ingest reads, with addresses in lower case. Events of the fee manager's pools are named FeePool…,
 * those of zone portals Zone….
 */
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
    | { name: 'BurnAt'; args: { burner: string; from: string; amount: bigint } }
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
    | BridgeLog
    | DexLog
  )
