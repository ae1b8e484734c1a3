import type { Client, ListPegEventsData } from '../../typescript/src/client.js'
import type { Severity } from './arguments.js'
import { jsonTo, lines, type Output } from './output.js'
import { addressOf, type Stable, trackedStables } from './stables.js'
import { duration, shownSymbol, shownTime, table } from './text.js'

type Break = ListPegEventsData['events'][number]
type Found = Break & { address: string; symbol: string }

/** What was found, and from when to when nothing is missing. */
export type Breaks = {
  since: string
  /** From here on; null if nothing was searched. Of several stables the latest one. */
  searched_from: string | null
  /** Up to here; null if that is unknown. Of several stables the earliest one. */
  complete_until: string | null
  breaks: Found[]
}

/** How many stables are asked about at once. */
const AT_ONCE = 4

/** Whether a break was under way at some time from `since` on. */
const reaches = ({ ended_at }: Break, since: Date): boolean => ended_at === null || new Date(ended_at) > since

/**
 * Reads the breaks of a stable that reach into the time since an instant. Breaks of one severity do not overlap, and the newest
 * comes first: behind one that began before the instant, none of its severity reaches into it.
 */
async function breaksOf(
  client: Client,
  address: string,
  { since, severity }: { since: Date; severity: Severity | undefined },
  signal: AbortSignal,
): Promise<{ events: Break[]; page: ListPegEventsData }> {
  const wanted: ReadonlySet<Severity> = new Set(severity ? [severity] : ['mild', 'severe'])
  const begunBefore = new Set<Severity>()
  const events: Break[] = []
  let first: ListPegEventsData | undefined
  const params = { address, limit: 100, ...(severity && { severity }) }
  for await (const page of client.listPegEvents(params, { signal }).pages()) {
    first ??= page
    for (const event of page.events) {
      if (reaches(event, since)) events.push(event)
      if (new Date(event.started_at) < since) begunBefore.add(event.severity)
    }
    if ([...wanted].every((one) => begunBefore.has(one))) break
  }
  return { events, page: first as ListPegEventsData }
}

const ends = (times: readonly (string | null)[], pick: 'earliest' | 'latest'): string | null => {
  if (times.length === 0 || times.includes(null)) return null
  const sorted = [...(times as string[])].sort((a, b) => Date.parse(a) - Date.parse(b))
  return (pick === 'earliest' ? sorted[0] : sorted.at(-1)) ?? null
}

/** The breaks of several stables together, newest first. */
export function together(
  since: Date,
  answers: readonly { stable: Pick<Stable, 'address' | 'symbol'>; events: readonly Break[]; page: ListPegEventsData }[],
): Breaks {
  return {
    since: shownTime(since),
    searched_from: ends(
      answers.map(({ page }) => page.searched_from),
      'latest',
    ),
    complete_until: ends(
      answers.map(({ page }) => page.complete_until),
      'earliest',
    ),
    breaks: answers
      .flatMap(({ stable: { address, symbol }, events }) => events.map((event) => ({ address, symbol, ...event })))
      .sort((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at)),
  }
}

/** The breaks as a table, and how far the answer is complete. */
export function breaksLines({ since, searched_from, complete_until, breaks }: Breaks): string[] {
  const rows = breaks.map((one) => [
    shownSymbol(one.symbol),
    one.severity,
    one.direction ?? '-',
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
  let stables: Pick<Stable, 'address' | 'symbol'>[]
  if (stable === undefined) stables = await trackedStables(client, signal)
  else {
    const address = await addressOf(client, stable, signal)
    stables = [await client.getStablecoin({ address }, { signal })]
  }
  const left = [...stables]
  const answers: Parameters<typeof together>[1][number][] = []
  const ask = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift())
      answers.push({ stable: next, ...(await breaksOf(client, next.address, { since, severity }, signal)) })
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask))
  const found = together(since, answers)
  if (output.json) jsonTo(output, found)
  else lines(output, breaksLines(found))
}
