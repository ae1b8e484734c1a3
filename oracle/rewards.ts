import { asTokens, type EconomyFacts, iso, lastTen, type Raw, sumOf, until } from './rows.js'

const DAY = 86_400
const ZERO = `0x${'0'.repeat(40)}`

/** The rewards of a stable as of an instant, computed row by row from the definition; without labels. */
export function rewardsAt(facts: EconomyFacts, stable: string, at: number) {
  const distributions = until(facts.reward_distributions, at, stable)
  const since = (seconds: number): number => asTokens(sumOf(distributions.filter((row) => row.at > at - seconds)))

  const choices = new Map<unknown, unknown>()
  for (const { holder, recipient } of until(facts.reward_recipients, at, stable)) choices.set(holder, recipient)
  const active = [...choices].filter(([, recipient]) => recipient !== ZERO)

  const byFunder = new Map<string, Raw[]>()
  for (const row of distributions) byFunder.set(`${row.funder}`, [...(byFunder.get(`${row.funder}`) ?? []), row])
  const funders = [...byFunder]
    .map(([address, rows]) => ({ address, rows, sum: sumOf(rows) }))
    .sort((a, b) => (a.sum === b.sum ? (a.address < b.address ? -1 : 1) : a.sum > b.sum ? -1 : 1))
  return {
    distribution_count: distributions.length,
    distributed: {
      last_24h_tokens: since(DAY),
      last_7d_tokens: since(7 * DAY),
      all_time_tokens: since(Number.POSITIVE_INFINITY),
    },
    opt_in: {
      recipient_count: active.length,
      distinct_recipients: new Set(active.map(([, recipient]) => recipient)).size,
      redirected_count: active.filter(([holder, recipient]) => holder !== recipient).length,
    },
    top_funders: funders.slice(0, 10).map(({ address, rows, sum }) => ({
      address,
      distribution_count: rows.length,
      total_amount_tokens: asTokens(sum),
    })),
    recent_distributions: lastTen(distributions).map((row) => ({
      funder: row.funder,
      amount_tokens: asTokens(BigInt(`${row.amount_raw}`)),
      block_number: row.block_number,
      block_timestamp: iso(row.at),
      tx_hash: row.tx_hash,
    })),
  }
}

/** The live reads of the same where every block is stored: the newest state, and the yields of the last seven days on it. */
export function liveReadsAt(facts: EconomyFacts, stable: string, at: number) {
  const state = until(facts.state_reads, at, stable).at(-1)
  const optedIn = asTokens(BigInt(`${state?.opted_in_raw}`))
  const week = rewardsAt(facts, stable, at).distributed.last_7d_tokens
  const created = facts.stablecoins.find((row) => row.stable === stable)?.at ?? 0
  const measured_days = Math.min(7, (at - created) / DAY)
  const yearly = (days: number) => (optedIn === 0 ? null : ((100 * 365) / days) * (week / optedIn))
  return {
    opted_in_supply: state?.opted_in_raw,
    opted_in_tokens: optedIn,
    global_reward_per_token: state?.reward_per_token_raw,
    effective_apy_pct: yearly(7),
    measured_days,
    apr_pct: measured_days < 1 ? null : yearly(measured_days),
  }
}
