import type { Client } from '../../typescript/src/client.js'
import { jsonTo, lines, type Output } from './output.js'
import { all, type Stable } from './stables.js'
import { printable, shownDeviation, shownPrice, shownSymbol, shownTime, table, tokens } from './text.js'

/** What one should know before using a row. */
function notesOf({ quote, policy, open_break, symbol_shared, tier, coverage, peg }: Stable): string {
  const notes = [
    ...(open_break ? [`${open_break.severity} break since ${shownTime(open_break.started_at)}`] : []),
    ...(peg && quote?.unquoted_since ? [`not quoted since ${shownTime(quote.unquoted_since)}`] : []),
    ...(policy?.paused ? ['transfers paused'] : []),
    ...(symbol_shared ? ['others have this symbol'] : []),
    ...(tier === 'unlisted' ? ['unlisted'] : []),
    ...(coverage.status === 'complete' ? [] : [printable(coverage.message)]),
  ]
  return notes.join(', ')
}

/** The table of stables. */
function listTable(stables: readonly Stable[]): string[] {
  const rows = stables.map((stable) => [
    shownSymbol(stable.symbol),
    shownPrice(stable.peg?.price),
    shownDeviation(stable.peg?.price, stable.peg?.spread_bps),
    stable.max_deviation_24h_bps?.toFixed(2) ?? '-',
    stable.supply ? tokens(stable.supply.current) : '-',
    stable.address,
    notesOf(stable),
  ])
  return table([['SYMBOL', 'PRICE', 'BPS', 'MAX 24H', 'SUPPLY', 'ADDRESS', 'NOTES'], ...rows], [1, 2, 3, 4])
}

export async function list(
  client: Client,
  { asOf }: { asOf: string | undefined },
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const stablecoins = await all(client.listStablecoins(asOf === undefined ? {} : { as_of: asOf }, { signal }))
  if (output.json) jsonTo(output, { stablecoins })
  else lines(output, listTable(stablecoins))
}
