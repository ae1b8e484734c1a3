import { isInUse, isListed } from './in-use.js'
import { type EconomyFacts, iso, lastTen, type Raw, until } from './rows.js'

/** The supply cap of a stable without one. */
const NO_CAP = `${2n ** 128n - 1n}`
/** With these statuses there is no price; with other failures the last price still holds. */
export const UNQUOTABLE = ['no_pair', 'not_usd', 'out_of_range', 'too_deep']

/** A price in millionths, and its distance from 1 in basis points. */
export const priceOf = (micros: number) => ({ price: micros / 1e6, spread_bps: Math.abs(micros - 1e6) / 100 })

/** A supply cap in base units; null if there is none. */
export const capOf = (raw: string): string | null => (raw === NO_CAP ? null : raw)

function pegOf(samples: readonly Raw[], at: number) {
  const newest = samples.at(-1)
  const priced = samples.findLast(({ sell_micros }) => sell_micros !== null)
  if (!newest || !priced || UNQUOTABLE.includes(`${newest.status}`)) return null
  return {
    ...priceOf(Number(priced.sell_micros)),
    buy_price: priced.buy_micros === null ? null : Number(priced.buy_micros) / 1e6,
    mid_price: priced.buy_micros === null ? null : (Number(priced.sell_micros) + Number(priced.buy_micros)) / 2e6,
    bid_ask_bps: priced.buy_micros === null ? null : (Number(priced.buy_micros) - Number(priced.sell_micros)) / 100,
    block_number: priced.block_number,
    sampled_at: `${iso(priced.at).slice(0, 19).replace('T', ' ')}+00`,
    quoted: at - newest.at > 120 ? null : priced === newest,
    price_age_seconds: at - priced.at,
  }
}

/**
 * `quote` of the methodology: whether a stable is quoted, and if not, since its first sample after the last one with a
 * price. That is a bound if the block before was not sampled.
 */
function quoteOf(samples: readonly Raw[], createdAt: number, at: number) {
  if (samples.length === 0) return null
  const last = samples.findLastIndex(({ sell_micros }) => sell_micros !== null)
  const first = samples[last + 1]
  const isOld = at - (samples.at(-1)?.at ?? at) > 120
  if (!first) return { quoted: isOld ? null : true, unquoted_since: null, unquoted_since_is_bound: false }
  const before = samples[last]
  const isBound = before ? first.block_number !== before.block_number + 1 : first.at > createdAt
  return { quoted: isOld ? null : false, unquoted_since: iso(first.at), unquoted_since_is_bound: isBound }
}

/** Longer texts are published up to here. */
const MOST_CHARACTERS = { symbol: 64, name: 256, currency: 64 }

/** The first characters of a text of a stable. */
export const publishedText = (field: keyof typeof MOST_CHARACTERS, text: string): string =>
  Array.from(text).slice(0, MOST_CHARACTERS[field]).join('')

/** The first characters of a stable's texts, and which of them have more. */
function textsOf(stable: Raw) {
  const kept = {
    symbol: publishedText('symbol', `${stable.symbol}`),
    name: publishedText('name', `${stable.name}`),
    currency: publishedText('currency', `${stable.currency}`),
  }
  return {
    ...kept,
    truncated: (['symbol', 'name', 'currency'] as const).filter((text) => kept[text] !== `${stable[text]}`),
  }
}

/**
 * The stables that existed at an instant, each with its newest state and sample by then: the listed ones, then the others in
 * use, then the rest, each by symbol and address in the order of bytes.
 */
export function stablecoinsAt(facts: EconomyFacts, at: number) {
  const used = {
    lists: facts.token_lists,
    pairs: facts.dex_pairs as unknown as { base: string; quote: string; at: number }[],
  }
  const rank = ({ tier, in_use }: { tier: string; in_use: boolean }): number => (tier === 'listed' ? 0 : in_use ? 1 : 2)
  const existing = until(facts.stablecoins, at)
  return existing
    .map((row) => {
      const { stable, block_number, at: createdAt } = row
      const state = until(facts.state_reads, at, `${stable}`).at(-1)
      return {
        address: `${stable}`,
        ...textsOf(row),
        symbol_shared: existing.some(
          (sibling) => sibling.stable !== stable && textsOf(sibling).symbol === textsOf(row).symbol,
        ),
        tier: isListed(facts.token_lists, `${stable}`, at) ? 'listed' : 'unlisted',
        in_use: isInUse({ stable: `${stable}`, block_number }, used, at),
        supply: state ? { current: state.supply_raw, cap: capOf(`${state.cap_raw}`) } : null,
        policy: state
          ? {
              type: state.policy_type,
              policy_id: state.policy_id,
              policy_admin: state.policy_admin,
              paused: state.paused,
            }
          : null,
        peg: pegOf(until(facts.peg_samples, at, `${stable}`), at),
        quote: quoteOf(until(facts.peg_samples, at, `${stable}`), createdAt, at),
      }
    })
    .sort(
      (a, b) =>
        rank(a) - rank(b) ||
        Buffer.compare(Buffer.from(a.symbol), Buffer.from(b.symbol)) ||
        (a.address < b.address ? -1 : 1),
    )
}

/** The last ten changes of a stable's supply or cap before an instant. */
export const supplyEventsAt = (facts: EconomyFacts, stable: string, at: number) =>
  lastTen(until(facts.supply_events, at, stable)).map((row) => ({
    kind: row.kind,
    account: row.account,
    amount: row.amount_raw,
    block_number: row.block_number,
    log_index: row.log_index,
    block_timestamp: iso(row.at),
    tx_hash: row.tx_hash,
  }))
