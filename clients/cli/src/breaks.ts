import type { Client, ListAllPegEventsData } from '../../typescript/src/client.js'
import type { Severity } from './arguments.js'
import { jsonTo, lines, type Output } from './output.js'
import { addressOf } from './stables.js'
import { duration, shownSymbol, shownTime, table } from './text.js'

/** What was found, and from when to when nothing is missing. */
export type Breaks = {
  since: string
  /** From here on; null if nothing was searched. */
  searched_from: string | null
  /** Up to here; null if that is unknown. */
  complete_until: string | null
  breaks: ListAllPegEventsData['events']
}

/** The breaks as a table, and how far the answer is complete. */
export function breaksLines({ since, searched_from, complete_until, breaks }: Breaks): string[] {
  const rows = breaks.map((one) => [
    shownSymbol(one.symbol),
    one.severity,
    one.direction,
    shownTime(one.started_at),
    one.ended_at === null ? 'OPEN' : shownTime(one.ended_at),
    duration(one.duration_seconds),
    one.max_deviation_bps.toFixed(2),
    one.address,
    one.thin ? 'thin' : '',
  ])
  const titles = ['SYMBOL', 'SEVERITY', 'SIDE', 'STARTED', 'ENDED', 'LASTED', 'MAX BPS', 'ADDRESS', '']
  const from = searched_from !== null && new Date(searched_from) > new Date(since) ? searched_from : since
  const completeness =
    complete_until === null
      ? 'not complete: something has not been searched yet, or is missing'
      : `complete from ${shownTime(from)} until ${shownTime(complete_until)}`
  return [...(breaks.length === 0 ? [`no breaks since ${since}`] : table([titles, ...rows], [5, 6])), completeness]
}

export async function breaks(
  client: Client,
  { stable, since, severity }: { stable: string | undefined; since: Date; severity: Severity | undefined },
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const address = stable === undefined ? undefined : await addressOf(client, stable, signal)
  let found: Breaks | undefined
  const params = { from: shownTime(since), limit: 500, ...(severity && { severity }) }
  for await (const { searched_from, complete_until, events } of client.listAllPegEvents(params, { signal }).pages()) {
    // Of the first page: the later ones are about the same instant.
    found ??= { since: shownTime(since), searched_from, complete_until, breaks: [] }
    found.breaks.push(...events.filter((event) => address === undefined || event.address === address))
  }
  if (found === undefined) throw new Error('a list has at least one page')
  if (output.json) jsonTo(output, found)
  else lines(output, breaksLines(found))
}
