import { coverageAt, type StoredBlocks } from './coverage.js'
import { asTokens } from './rows.js'

const DAY = 86_400
const WINDOWS = { '24h': 1, '7d': 7, '30d': 30 } as const
const ZERO = '0x0000000000000000000000000000000000000000'
/** The receive guard and the channel reserve. */
const CUSTODIANS = ['0xb10c000000000000000000000000000000000000', '0x4d50500000000000000000000000000000000000']

type Transfer = {
  kind: string
  sender: string
  recipient: string
  amount_raw: string
  block_number: number
  block_time: number
}

/** The transfers of one stable in chain order, its first known supply, and which blocks are stored. */
export type HolderFacts = {
  transfers: readonly Transfer[]
  firstSupply: { supply_raw: string; block_number: number; block_time: number } | undefined
  created: { block_number: number; block_time: number } | undefined
  stored: StoredBlocks
}

/** Each account's balance after some transfers, one by one; accounts that have nothing are left out. */
export function balancesAfter(transfers: readonly Transfer[]): Map<string, bigint> {
  const balances = new Map<string, bigint>()
  const add = (account: string, change: bigint): void => {
    if (account !== ZERO) balances.set(account, (balances.get(account) ?? 0n) + change)
  }
  for (const { sender, recipient, amount_raw } of transfers) {
    add(sender, -BigInt(amount_raw))
    add(recipient, BigInt(amount_raw))
  }
  return new Map([...balances].filter(([, balance]) => balance !== 0n))
}

export const totalOf = (balances: ReadonlyMap<string, bigint>): bigint =>
  [...balances.values()].reduce((sum, balance) => sum + balance, 0n)

/** Divided as integers, so that the quotient of any two amounts is right to 15 digits. */
const quotient = (a: bigint, b: bigint): number | null => (b === 0n ? null : Number((a * 10n ** 90n) / b) / 1e90)

/** The Gini coefficient by its definition on ranks, from the smallest to the largest. */
function giniOf(ascending: readonly bigint[]): number | null {
  const n = BigInt(ascending.length)
  const sum = ascending.reduce((total, balance) => total + balance, 0n)
  const weighted = ascending.reduce((total, balance, i) => total + (2n * BigInt(i + 1) - n - 1n) * balance, 0n)
  return quotient(weighted, n * sum)
}

function hhiOf(balances: readonly bigint[]): number | null {
  const sum = balances.reduce((total, balance) => total + balance, 0n)
  return quotient(10_000n * balances.reduce((total, balance) => total + balance * balance, 0n), sum * sum)
}

const LATER = Date.parse('2026-11-28T00:00:00Z') / 1000
/** Contracts that hold for others, and since when, in unix seconds, they count as such. */
const CONTRACTS = new Map([
  ['0x20fc000000000000000000000000000000000000', 0],
  ['0xfeec000000000000000000000000000000000000', 0],
  ['0xdec0000000000000000000000000000000000000', 0],
  ['0x403c000000000000000000000000000000000000', 0],
  ['0xb10c000000000000000000000000000000000000', 0],
  ['0x8c76e2f6c5ceda9aa7772e7eff30280226c44392', 0],
  ['0x7753dc8d4bd48db599da21e08b1ab1d6fdffdc71', 0],
  ['0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f', 0],
  ['0xccc88a9d1b4ed6b0eaba998850414b24f1c315be', 0],
  ['0x4d50500000000000000000000000000000000000', LATER],
  ['0x10ee9aac980a180dd4dcfc96c746d60b0ea88f97', LATER],
  ['0x9a044ae05e5e6290dcf56afd69548565e957a626', LATER],
  ['0x33620f62c5b9b2086dd6b62f4a297a9f30347029', LATER],
])

/** Whether an account holds for others at an instant: one of these contracts, or the portal of a zone. */
const isContract = (account: string, at: number): boolean =>
  CUSTODIANS.includes(account) ||
  (CONTRACTS.get(account) ?? Number.POSITIVE_INFINITY) <= at ||
  /^0x5ad00{20}/.test(account)

function concentrationOf(balances: readonly bigint[]) {
  const supply = balances.reduce((sum, balance) => sum + balance, 0n)
  return {
    holder_count: balances.length,
    supply: `${supply}`,
    supply_tokens: asTokens(supply),
    hhi: hhiOf(balances),
    gini: giniOf(balances.toSorted((a, b) => (a < b ? -1 : 1))),
  }
}

/** Whether all transfers from the creation to the last stored block are stored. */
function isWhole({ created, stored }: HolderFacts, stable: string, at: number): boolean {
  const request = { families: ['transfers'], stable, from: 0, to: at, ...(created && { since: created }) }
  const { missing } = coverageAt(stored, request, Number.POSITIVE_INFINITY)
  const [first] = missing
  return !first || (missing.length === 1 && first.from_block !== null && first.to_block === null)
}

const NOTHING = {
  holder_count: null,
  supply: null,
  supply_tokens: null,
  hhi: null,
  gini: null,
  top_10_pct: null,
  top_100_pct: null,
  without_contracts: null,
  top_holders: [],
  activity: null,
}

/** Who holds a stable as of an instant, by a replay of its transfers; without labels. */
export function holdersAt(
  facts: HolderFacts,
  { stable, at, window, limit }: { stable: string; at: number; window: keyof typeof WINDOWS; limit: number },
) {
  if (!isWhole(facts, stable, at)) return NOTHING
  const { transfers, firstSupply, created } = facts
  if ((created?.block_number ?? 0) === 0) {
    const first = transfers.filter(({ block_number }) => block_number <= (firstSupply?.block_number ?? 0))
    if (!firstSupply || firstSupply.block_time > at || `${totalOf(balancesAfter(first))}` !== firstSupply.supply_raw)
      return NOTHING
  }
  const start = at - WINDOWS[window] * DAY
  const transfersUntil = transfers.filter(({ block_time }) => block_time <= at)
  const balances = balancesAfter(transfersUntil)
  const before = balancesAfter(transfersUntil.filter(({ block_time }) => block_time <= start))
  const sorted = [...balances].sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
  const supply = totalOf(balances)
  const shareOf = (holders: number) =>
    quotient(100n * sorted.slice(0, holders).reduce((sum, [, balance]) => sum + balance, 0n), supply)
  const moved = transfersUntil.filter(
    ({ block_time, kind, sender, recipient }) => block_time > start && kind === 'transfer' && sender !== recipient,
  )
  const transferred = moved.reduce((sum, { amount_raw }) => sum + BigInt(amount_raw), 0n)
  const changes = [...new Set([...balances.keys(), ...before.keys()])]
    .filter((account) => !CUSTODIANS.includes(account))
    .map((account) => (balances.get(account) ?? 0n) - (before.get(account) ?? 0n))
  const gained = changes.reduce((sum, change) => (change > 0n ? sum + change : sum), 0n)
  const lost = changes.reduce((sum, change) => (change < 0n ? sum - change : sum), 0n)
  const [handedOver = 0n] = [gained, lost].toSorted((a, b) => (a < b ? -1 : 1))
  // The supply over time: what it was at each change, for as long as it was that.
  const issued = transfersUntil.filter(
    ({ block_time, kind }) => block_time > start && kind !== 'transfer' && kind !== 'custody',
  )
  let [supplySeconds, held, since] = [0n, totalOf(before), start]
  for (const { block_time, kind, amount_raw } of issued) {
    supplySeconds += held * BigInt(block_time - since)
    since = block_time
    if (kind === 'mint') held += BigInt(amount_raw)
    if (kind === 'burn') held -= BigInt(amount_raw)
  }
  supplySeconds += held * BigInt(at - since)
  const seconds = BigInt(at - start)
  return {
    holder_count: sorted.length,
    supply: `${supply}`,
    supply_tokens: asTokens(supply),
    hhi: hhiOf(sorted.map(([, balance]) => balance)),
    gini: giniOf(sorted.map(([, balance]) => balance).reverse()),
    top_10_pct: shareOf(10),
    top_100_pct: shareOf(100),
    without_contracts: concentrationOf(
      [...balances].flatMap(([account, balance]) => (balance < 10n ** 6n || isContract(account, at) ? [] : [balance])),
    ),
    top_holders: sorted.slice(0, limit).map(([address, balance], i) => ({
      rank: i + 1,
      address,
      balance: `${balance}`,
      balance_tokens: asTokens(balance),
      share_pct: quotient(100n * balance, supply),
    })),
    activity: {
      window,
      transfer_count: moved.length,
      transferred: `${transferred}`,
      transferred_tokens: asTokens(transferred),
      velocity: quotient(seconds * transferred, supplySeconds),
      velocity_a_year: quotient(365n * seconds * transferred, supplySeconds * BigInt(WINDOWS[window])),
      turnover_pct: quotient(100n * seconds * handedOver, supplySeconds),
      new_holders: [...balances.keys()].filter((account) => !before.has(account)).length,
      leaving_holders: [...before.keys()].filter((account) => !balances.has(account)).length,
    },
  }
}
