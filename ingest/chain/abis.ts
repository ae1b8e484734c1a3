import { parseAbi } from 'viem'

// What ingest uses of the chain's contracts. viem/tempo has all of it, but importing that takes 0.3 s of CPU and 45 MB.

/** A TIP-20 token: what is asked of it. */
export const TIP20 = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function currency() view returns (string)',
  'function quoteToken() view returns (address)',
  'function totalSupply() view returns (uint256)',
  'function supplyCap() view returns (uint256)',
  'function paused() view returns (bool)',
  'function transferPolicyId() view returns (uint64)',
  'function optedInSupply() view returns (uint128)',
  'function globalRewardPerToken() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function hasRole(address account, bytes32 role) view returns (bool)',
])

/** A TIP-20 token: its events that are read. */
export const TIP20_EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 amount)',
  'event Mint(address indexed to, uint256 amount)',
  'event Burn(address indexed from, uint256 amount)',
  'event BurnBlocked(address indexed from, uint256 amount)',
  'event BurnAt(address indexed burner, address indexed from, uint256 indexed amount)',
  'event SupplyCapUpdate(address indexed updater, uint256 indexed newSupplyCap)',
  'event PauseStateUpdate(address indexed updater, bool isPaused)',
  'event TransferPolicyUpdate(address indexed updater, uint64 indexed newPolicyId)',
  'event QuoteTokenUpdate(address indexed updater, address indexed newQuoteToken)',
  'event NextQuoteTokenSet(address indexed updater, address indexed nextQuoteToken)',
  'event LogoURIUpdated(address indexed updater, string newLogoURI)',
  'event RoleMembershipUpdated(bytes32 indexed role, address indexed account, address indexed sender, bool hasRole)',
  'event RoleAdminUpdated(bytes32 indexed role, bytes32 indexed newAdminRole, address indexed sender)',
  'event RewardDistributed(address indexed funder, uint256 amount)',
  'event RewardRecipientSet(address indexed holder, address indexed recipient)',
])

/** A TIP-20 token: its other events. */
export const TIP20_UNREAD_EVENTS = parseAbi([
  'event Approval(address indexed owner, address indexed spender, uint256 amount)',
  'event TransferWithMemo(address indexed from, address indexed to, uint256 amount, bytes32 indexed memo)',
])

export const TIP20_FACTORY_EVENTS = parseAbi([
  'event TokenCreated(address indexed token, string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt)',
])

export const STABLECOIN_DEX_EVENTS = parseAbi([
  'event PairCreated(bytes32 indexed key, address indexed base, address indexed quote)',
  'event OrderPlaced(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, bool isFlipOrder, int16 flipTick)',
  'event OrderFilled(uint128 indexed orderId, address indexed maker, address indexed taker, uint128 amountFilled, bool partialFill)',
  'event OrderFlipped(uint128 indexed orderId, address indexed maker, address indexed token, uint128 amount, bool isBid, int16 tick, int16 flipTick)',
  'event FlipFailed(uint128 indexed orderId, address indexed maker, bytes4 reason)',
  'event OrderCancelled(uint128 indexed orderId)',
])

/** The registry of transfer policies: its events that are read. */
export const TIP403_EVENTS = parseAbi([
  'event PolicyCreated(uint64 indexed policyId, address indexed updater, uint8 policyType)',
  'event PolicyAdminUpdated(uint64 indexed policyId, address indexed updater, address indexed admin)',
  'event WhitelistUpdated(uint64 indexed policyId, address indexed updater, address indexed account, bool allowed)',
  'event BlacklistUpdated(uint64 indexed policyId, address indexed updater, address indexed account, bool restricted)',
  'event CompoundPolicyCreated(uint64 indexed policyId, address indexed creator, uint64 senderPolicyId, uint64 recipientPolicyId, uint64 mintRecipientPolicyId)',
  'event ReceivePolicyUpdated(address indexed account, uint64 senderPolicyId, uint64 tokenFilterId, address recoveryAuthority)',
])

/** The registry of transfer policies: what is asked of it. */
export const TIP403 = parseAbi(['function policyData(uint64 policyId) view returns (uint8 policyType, address admin)'])

export const FEE_MANAGER_EVENTS = parseAbi([
  'event UserTokenSet(address indexed user, address indexed token)',
  'event ValidatorTokenSet(address indexed validator, address indexed token)',
  'event FeesDistributed(address indexed validator, address indexed token, uint256 amount)',
])

/** The fee manager's pools. */
export const FEE_AMM_EVENTS = parseAbi([
  'event Mint(address sender, address indexed to, address indexed userToken, address indexed validatorToken, uint256 amountValidatorToken, uint256 liquidity)',
  'event Burn(address indexed sender, address indexed userToken, address indexed validatorToken, uint256 amountUserToken, uint256 amountValidatorToken, uint256 liquidity, address to)',
  'event RebalanceSwap(address indexed userToken, address indexed validatorToken, address indexed swapper, uint256 amountIn, uint256 amountOut)',
])

export const RECEIVE_POLICY_GUARD_EVENTS = parseAbi([
  'event TransferBlocked(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint256 amount, uint8 receiptVersion, bytes receipt)',
  'event ReceiptClaimed(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint64 blockedAt, uint8 receiptVersion, address originator, address recipient, address recoveryAuthority, address caller, address to, uint256 amount)',
  'event ReceiptBurned(address indexed token, address indexed receiver, uint64 indexed blockedNonce, uint64 blockedAt, uint8 receiptVersion, address originator, address recipient, address recoveryAuthority, address caller, uint256 amount)',
])

export const ZONE_PORTAL_EVENTS = parseAbi([
  'event DepositMade(bytes32 indexed newCurrentDepositQueueHash, address indexed sender, address token, uint128 netAmount, uint128 fee, uint256 keyIndex, bytes32 ephemeralPubkeyX, uint8 ephemeralPubkeyYParity, bytes ciphertext, bytes12 nonce, bytes16 tag, address tempoRefundRecipient, uint64 depositNumber)',
  'event WithdrawalProcessed(address indexed to, bytes32 indexed senderTag, address token, uint128 amount, bool callbackSuccess)',
  'event DepositBounceBack(address indexed tempoRefundRecipient, address token, uint128 amount, uint128 bouncebackFee)',
  'event RefundClaimed(address indexed recipient, address indexed token, uint128 amount)',
])

/** LayerZero's omnichain fungible token. Amounts are in the units of this chain's token. */
export const OFT_EVENTS = parseAbi([
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
])
