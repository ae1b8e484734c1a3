/** Makes TIP-20 tokens. Tempo protocol address, the same on every network. */
export const TIP20_FACTORY = '0x20fc000000000000000000000000000000000000'
/** The enshrined exchange, whose quotes are the peg samples. */
export const STABLECOIN_DEX = '0xdec0000000000000000000000000000000000000'
/** Keeps the transfer policies (TIP-403). */
export const TIP403_REGISTRY = '0x403c000000000000000000000000000000000000'
/** Takes the fee of every transaction, which is the transaction's last log. */
export const FEE_MANAGER = '0xfeec000000000000000000000000000000000000'
/** Keeps transfers that the receiver's own policy does not let in. */
export const RECEIVE_POLICY_GUARD = '0xb10c000000000000000000000000000000000000'
/** Multicall3 at its canonical address. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'

/**
 * Tokens that may be there from block 0, for which the factory has no event: pathUSD and, on test networks, AlphaUSD,
 * BetaUSD and ThetaUSD. Whether they are is asked of the node.
 */
export const GENESIS_TOKENS = ['00', '01', '02', '03'].map((end) => `0x20c00000000000000000000000000000000000${end}`)

/** Every TIP-20 token's address starts so. */
export const TIP20_PREFIX = '0x20c0'

/** TIP-1022: a virtual address is 4 bytes of who owns it, these ten, and 6 bytes of the owner's choice. */
const VIRTUAL = 'fd'.repeat(10)

/** Whether the chain passes on what is sent to this lower-case address. It may stand at the end of a topic. */
export const isVirtualAddress = (address: string): boolean => address.startsWith(VIRTUAL, address.length - 32)
