import type { Client, GetPegData } from '../../typescript/src/client.js'
import { jsonTo, lines, type Output } from './output.js'
import { addressOf } from './stables.js'
import { duration, printable, sampleTime, shownDeviation, shownPrice, shownTime, table } from './text.js'

/** The peg of a stable, in lines. */
function pegLines({ address, as_of, current, quote, coverage, windows, windows_as_of }: GetPegData): string[] {
  const head = [
    ['address', address],
    ['as of', as_of === undefined ? 'now' : shownTime(as_of)],
    ...(current
      ? [
          ['sells for', `${shownPrice(current.price_vs_refusd)} pathUSD`],
          ['costs', current.buy_price === null ? 'nobody sells' : `${shownPrice(current.buy_price)} pathUSD`],
          ...(current.mid_price === null ? [] : [['middle', `${shownPrice(current.mid_price)} pathUSD`]]),
          ['deviation', `${shownDeviation(current.price_vs_refusd, current.spread_bps)} bps`],
          ['block', `${current.block_number}, ${sampleTime(current.sampled_at)}`],
        ]
      : [['sells for', 'no price']]),
    ...(quote?.unquoted_since
      ? [['not quoted', `since ${shownTime(quote.unquoted_since)}${quote.unquoted_since_is_bound ? ' or before' : ''}`]]
      : []),
    ['coverage', `${coverage.status}: ${printable(coverage.message)}`],
  ]
  const rows = windows.map((window) => [
    window.window,
    `${window.sample_count}`,
    `${window.unquoted_count}`,
    window.mean_price?.toFixed(8) ?? '-',
    shownPrice(window.min_price),
    shownPrice(window.max_price),
    window.max_deviation_bps?.toFixed(2) ?? '-',
    window.seconds_outside_10bps === null ? '-' : duration(window.seconds_outside_10bps),
    window.seconds_outside_50bps === null ? '-' : duration(window.seconds_outside_50bps),
  ])
  const titles = ['WINDOW', 'SAMPLES', 'UNQUOTED', 'MEAN', 'LOWEST', 'HIGHEST', 'MAX BPS', '>10 BPS', '>50 BPS']
  return [
    ...table(head),
    '',
    ...table([titles, ...rows], titles.map((_, column) => column).slice(1)),
    ...(windows_as_of === null ? [] : [`windows end at ${shownTime(windows_as_of)}`]),
  ]
}

export async function peg(
  client: Client,
  { stable, asOf }: { stable: string; asOf: string | undefined },
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const address = await addressOf(client, stable, signal)
  const answer = await client.getPeg({ address, ...(asOf !== undefined && { as_of: asOf }) }, { signal })
  if (output.json) jsonTo(output, answer)
  else lines(output, pegLines(answer))
}
