import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem'
import { Addresses } from 'viem/tempo'
import { accounts } from './accounts.js'

type PolicyKind = 'allow_all' | 'blacklist' | 'whitelist' | 'compound'

/** The properties that determine a token's price. */
export type PlannedToken = {
  symbol: string
  /** Lower case. */
  address: Address
  /** Symbol of the stable it is quoted in: `pathUSD` or an earlier one in the list. */
  quote: string
  /** false: not listed on the DEX, which lists USD stables only, so it has no native price. */
  hasPair: boolean
  /** A volatile stable breaks its peg and runs out of liquidity; a steady one only drifts. */
  temperament: 'steady' | 'volatile'
}

/** One stable that the market's issuer creates through the factory. Amounts are micro-units (6 decimals). */
export type PlannedStable = PlannedToken & {
  name: string
  currency: 'USD' | 'EUR'
  /** The factory derives the address from creator and salt, so it is known before the stable exists. */
  salt: Hex
  initialSupply: bigint
  /** null: uncapped. */
  supplyCap: bigint | null
  policy: PolicyKind
  /** Whether the plan pauses it at times. */
  pausable: boolean
  /** Whether its issuer distributes rewards to holders. */
  rewards: boolean
}

export const PATH_USD = { symbol: 'pathUSD', address: Addresses.pathUsd } as const

/**
 * The other stables in anvil's genesis. Nobody on the chain can mint, cap or pause them or set their policy. The market
 * gives them a book with drifting prices and nothing else.
 */
export const GENESIS_STABLES: readonly PlannedToken[] = ['AlphaUSD', 'BetaUSD', 'ThetaUSD'].map((symbol, index) => ({
  symbol,
  address: `0x20c000000000000000000000000000000000000${index + 1}`,
  quote: PATH_USD.symbol,
  hasPair: true,
  temperament: 'steady',
}))

const TOKEN = 10n ** 6n
type Traits = Partial<Pick<PlannedStable, 'quote' | 'policy' | 'temperament' | 'pausable' | 'rewards' | 'currency'>> & {
  millions: number
  capMillions: number | null
}

/** The named stables. Quote stables come before those quoted in them. The first nine cover every trait of the market. */
const NAMED_STABLES: readonly [symbol: string, name: string, traits: Traits][] = [
  ['ABUSD', 'Arbor Dollar', { millions: 412, capMillions: 1000 }],
  ['BWUSD', 'Breakwater Dollar', { millions: 655, capMillions: null, rewards: true }],
  ['CNUSD', 'Cairn Dollar', { millions: 128, capMillions: 150, temperament: 'volatile' }],
  ['DFUSD', 'Drift Dollar', { millions: 94, capMillions: 250, temperament: 'volatile' }],
  ['EMUSD', 'Ember Dollar', { millions: 181, capMillions: 200, temperament: 'volatile', policy: 'blacklist' }],
  ['FJUSD', 'Fjord Dollar', { millions: 90, capMillions: 400, quote: 'ABUSD', policy: 'whitelist' }],
  ['GRUSD', 'Granite Dollar', { millions: 110, capMillions: 125, quote: 'BWUSD', policy: 'compound' }],
  ['HZUSD', 'Hazel Dollar', { millions: 237, capMillions: 500, pausable: true }],
  ['JNEUR', 'Juniper Euro', { millions: 75, capMillions: 300, currency: 'EUR' }],
  ['INUSD', 'Inlet Dollar', { millions: 148, capMillions: 160 }],
]

/** Fewest stables of a market: eight in USD and one in EUR. */
export const MIN_STABLES = 9
/** Most stables of a market: the setup blocks stay below the gas limit, and no bench needs more. */
export const MAX_STABLES = 60

/** The `count` stables of a market: the named ones, then plain ones quoted in pathUSD, every fifth of them volatile. */
export function planStables(count: number): PlannedStable[] {
  return Array.from({ length: count }, (_, index) => {
    const [symbol, name, traits] = NAMED_STABLES[index] ?? extra(index)
    const salt = numberToHex(index + 1, { size: 32 })
    const currency = traits.currency ?? 'USD'
    return {
      symbol,
      name,
      currency,
      address: tokenAddress(accounts.issuer.address, salt),
      salt,
      quote: traits.quote ?? PATH_USD.symbol,
      hasPair: currency === 'USD',
      initialSupply: BigInt(traits.millions) * 1_000_000n * TOKEN,
      supplyCap: traits.capMillions === null ? null : BigInt(traits.capMillions) * 1_000_000n * TOKEN,
      policy: traits.policy ?? 'allow_all',
      temperament: traits.temperament ?? 'steady',
      pausable: traits.pausable ?? false,
      rewards: traits.rewards ?? false,
    }
  })
}

function extra(index: number): (typeof NAMED_STABLES)[number] {
  const traits: Traits = { millions: 90 + ((index * 37) % 200), capMillions: 500 }
  if (index % 5 === 0) traits.temperament = 'volatile'
  return [`X${index}USD`, `Extra Dollar ${index}`, traits]
}

/** TIP20Factory: a fixed 12-byte prefix, then the first 8 bytes of keccak256(abi.encode(creator, salt)). */
export function tokenAddress(creator: Address, salt: Hex): Address {
  const hash = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [creator, salt]))
  return `0x20c000000000000000000000${hash.slice(2, 18)}`
}
