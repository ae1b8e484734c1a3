import { asTokens, type EconomyFacts, iso, lastTen, sumOf, until } from './rows.js'

const DAY = 86_400
const ZERO = `0x${'0'.repeat(40)}`

/** The fee economics as of an instant, computed row by row from the definition; without labels. */
export function feesAt(facts: EconomyFacts, at: number) {
  const paid = until(facts.fee_distributions, at)
  const week = paid.filter((row) => row.at > at - 7 * DAY)
  const choices = { user: new Map<unknown, unknown>(), validator: new Map<unknown, unknown>() }
  for (const row of until(facts.fee_elections, at)) choices[row.kind as 'user'].set(row.account, row.stable)
  const electing = (kind: 'user' | 'validator', isMeant: (stable: unknown) => boolean): number =>
    [...choices[kind].values()].filter((chosen) => chosen !== ZERO && isMeant(chosen)).length

  const rows = until(facts.stablecoins, at).map(({ stable, symbol, name }) => {
    const received = paid.filter((row) => row.stable === stable)
    const received7d = week.filter((row) => row.stable === stable)
    return {
      address: `${stable}`,
      symbol,
      name,
      users_electing: electing('user', (chosen) => chosen === stable),
      validators_electing: electing('validator', (chosen) => chosen === stable),
      fees_received_24h_tokens: asTokens(sumOf(received.filter((row) => row.at > at - DAY))),
      fees_received_7d_tokens: asTokens(sumOf(received7d)),
      fees_received_all_time_tokens: asTokens(sumOf(received)),
      share_of_fees_7d_pct: sumOf(week) === 0n ? null : (100 * Number(sumOf(received7d))) / Number(sumOf(week)),
      distribution_count: received.length,
    }
  })
  const symbolOf = new Map(facts.stablecoins.map(({ stable, symbol }) => [stable, symbol]))
  return {
    totals: {
      users_electing: electing('user', () => true),
      validators_electing: electing('validator', () => true),
      fees_distributed_7d_tokens: asTokens(sumOf(week)),
      fees_distributed_all_time_tokens: asTokens(sumOf(paid)),
      distribution_count: paid.length,
    },
    stablecoins: rows.sort(
      (a, b) => b.fees_received_7d_tokens - a.fees_received_7d_tokens || (a.address < b.address ? -1 : 1),
    ),
    recent_distributions: lastTen(paid).map((row) => ({
      validator: row.validator,
      token: row.stable,
      token_symbol: symbolOf.get(`${row.stable}`) ?? row.stable,
      amount_tokens: asTokens(BigInt(`${row.amount_raw}`)),
      block_number: row.block_number,
      block_timestamp: iso(row.at),
      tx_hash: row.tx_hash,
    })),
  }
}
