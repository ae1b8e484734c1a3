import { ZONE_PORTAL_PREFIX } from '../../clickhouse/holders/transfers.js'

/** The factory of TIP-20 tokens. A Tempo protocol address, the same on every network. */
export const TIP20_FACTORY = '0x20fc000000000000000000000000000000000000'
/** The enshrined exchange, whose quotes are the peg samples. */
export const STABLECOIN_DEX = '0xdec0000000000000000000000000000000000000'
/** The registry of transfer policies (TIP-403). */
export const TIP403_REGISTRY = '0x403c000000000000000000000000000000000000'
/** Receives the fee of every transaction; the fee's transfer is the transaction's last log. */
export const FEE_MANAGER = '0xfeec000000000000000000000000000000000000'
/** Multicall3 at its canonical address. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'

/** The protocol's contract of block hashes (EIP-2935): the beginning of each block stores its parent's hash. */
export const BLOCK_HASHES = '0x0000f90827f1c53a10cb7a02335b175320002935'
/** How many of the newest hashes it holds; the one of block `n` is in slot `n % BLOCK_HASHES_HELD`. */
export const BLOCK_HASHES_HELD = 8191

/**
 * Tokens that may exist from block 0, for which the factory emits no event: pathUSD and, on test networks, AlphaUSD,
 * BetaUSD and ThetaUSD. The node is asked whether they exist.
 */
export const GENESIS_TOKENS = ['00', '01', '02', '03'].map((end) => `0x20c00000000000000000000000000000000000${end}`)

/**
 * Prefix of the address of every TIP-20 token: twelve bytes, which the chain keeps for tokens. A shorter prefix would not
 * do: anyone finds a contract address that begins with two given bytes within 65,536 tries, and may emit any log there.
 */
export const TIP20_PREFIX = `0x20c0${'0'.repeat(20)}`

/**
 * TIP-1022: a virtual address is 4 bytes that identify its owner, these ten bytes, and 6 bytes of the owner's choice.
 */
const VIRTUAL = 'fd'.repeat(10)

/** Whether the chain forwards what is sent to this lower-case address, which may also be the end of a topic. */
export const isVirtualAddress = (address: string): boolean => address.startsWith(VIRTUAL, address.length - 32)

/**
 * The zone whose portal an address is, as `zone:<id>`, or null. Two portals predate the prefix; their zones have the
 * letter by which Tempo calls them.
 */
export function zoneOf(portal: string): string | null {
  if (portal.startsWith(ZONE_PORTAL_PREFIX)) return `zone:${BigInt(`0x${portal.slice(ZONE_PORTAL_PREFIX.length)}`)}`
  return LEGACY_ZONES.get(portal) ?? null
}
const LEGACY_ZONES = new Map([
  ['0x7069dec4e64fd07334a0933ede836c17259c9b23', 'zone:A'],
  ['0x3f5296303400b56271b476f5a0b9cbf74350d6ac', 'zone:B'],
])

/** Bridge contracts (Stargate's OFTs on Tempo) and their tokens. They count as issuers without a role event. */
export const KNOWN_BRIDGES: ReadonlyMap<string, string> = new Map([
  ['0x8c76e2f6c5ceda9aa7772e7eff30280226c44392', '0x20c000000000000000000000b9537d11c60e8b50'],
])
