import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { PriceCursor, type StablePrices, stablePrices } from './agreed/stable-prices.js'
import { Severity } from './break-filter.js'
import { BREAKS_SINCE_SETTINGS, breaksSince, EXCURSION_COLUMNS, excursionOf, PegExcursion } from './excursions.js'
import { BreakFinder, type FinderState } from './hysteresis.js'
import { largestDeviations } from './largest-deviations.js'
import { BREAK_PRICES, BREAK_RULES } from './rules.js'

/** The excursions in progress at the end of a slot, as the newest slot that has seen each knew it. */
const excursionsSeen = defineQuery({
  name: 'peg_excursions',
  params: z.object({ at: z.date() }),
  row: PegExcursion.extend({ is_later: z.boolean() }),
  sql: `
    SELECT ${EXCURSION_COLUMNS}, (slot_at > {at: DateTime})::Bool AS is_later
    FROM (${breaksSince('{at: DateTime}', "'published'")}) AS seen
    WHERE seen.started_at <= {at: DateTime} AND (seen.ended_at IS NULL OR seen.ended_at > {at: DateTime})
    ORDER BY stable, severity, seen.started_at, seen.started_block
    ${BREAKS_SINCE_SETTINGS}`,
})

/** The excursions of the published track in progress at the end of a slot, as known then, whatever later slots have found. */
export async function excursionsAt(clickhouse: ClickHouseClient, { at }: { at: Date }): Promise<PegExcursion[]> {
  const seen = await excursionsSeen(clickhouse, { at })
  const later = seen.filter(({ is_later }) => is_later)
  const breaks = later.map((excursion) => ({ ...excursion, started_at: new Date(excursion.started_at * 1000) }))
  const largest = await largestDeviations(clickhouse, { track: 'published', breaks, to: at })
  return seen.map((row) => {
    const { is_later, ...excursion } = row
    if (!is_later) return excursion
    const { confirmed_at, max_deviation_micros } = excursion
    const isConfirmed = confirmed_at !== null && confirmed_at * 1000 <= at.getTime()
    return {
      ...excursion,
      max_deviation_micros: largest[later.indexOf(row)] ?? max_deviation_micros,
      confirmed_at: isConfirmed ? confirmed_at : null,
      standing_tokens: isConfirmed ? excursion.standing_tokens : null,
      ended_at: null,
      ended_block: null,
    }
  })
}

/**
 * The excursions of each slot on the published track, as known at its end: those in progress before it, and those that begin in its samples, except
 * the ones that ended in it and were too short to be events. A sample without a price neither continues nor ends an
 * excursion. `after` is the time after which the samples of the first slot begin, and `ends` has the times of the slots.
 * `standing_tokens` is as it was at `after`. Rejects with QueryError.
 */
export async function pegExcursions(
  clickhouse: ClickHouseClient,
  before: readonly PegExcursion[],
  { after, ends }: { after: number; ends: readonly number[] },
): Promise<PegExcursion[][]> {
  const samples = await stablePrices(clickhouse, BREAK_PRICES.published, { from: after, to: ends.at(-1) ?? after })
  return continueExcursions(before, samples, ends)
}

function continueExcursions(
  before: readonly PegExcursion[],
  samples: readonly StablePrices[],
  ends: readonly number[],
): PegExcursion[][] {
  const found: PegExcursion[][] = ends.map(() => [])
  const pricesOf = new Map(samples.map(({ stable, prices }) => [stable, prices]))
  for (const stable of [...new Set([...before.map(({ stable }) => stable), ...pricesOf.keys()])].sort())
    for (const severity of Severity.options) {
      const rule = BREAK_RULES.published[severity]
      const cursor = new PriceCursor(pricesOf.get(stable) ?? new Int32Array())
      let open = before.find((excursion) => excursion.stable === stable && excursion.severity === severity) ?? null
      for (const [slot, end] of ends.entries()) {
        const finder = new BreakFinder(rule, open ? stateOf(open) : undefined)
        cursor.addUntil(end, [finder])
        const ofSlot = nextExcursions({ stable, severity, open }, finder)
        found[slot]?.push(...ofSlot)
        open = ofSlot.find(({ ended_at }) => ended_at === null) ?? null
      }
    }
  return found
}

/** What a finder knows that continues an excursion. */
const stateOf = (open: PegExcursion): FinderState => {
  const { started_at, started_block, confirmed_at, direction, max_deviation_micros } = open
  const seen = { first_at: started_at, first_block: started_block, inside_at: null, inside_block: null }
  const deviation = { started_at, started_block, confirmed_at, direction, seen }
  return { price: null, baseline: null, deviation: { ...deviation, worst: max_deviation_micros }, unquoted: null, seen }
}

/** The excursions of a slot, given the one in progress before it and a finder that has continued it through the slot. */
function nextExcursions(
  { open, ...of }: Pick<PegExcursion, 'stable' | 'severity'> & { open: PegExcursion | null },
  finder: BreakFinder,
): PegExcursion[] {
  const excursions: PegExcursion[] = []
  if (open && finder.brief) {
    const { worst, ...end } = finder.brief
    excursions.push({ ...open, ...end, max_deviation_micros: worst })
  }
  for (const excursion of finder.found())
    if (excursion.kind === 'deviation') excursions.push(excursionOf({ ...excursion, ...of }))
  const { deviation } = finder.state
  if (deviation && deviation.confirmed_at === null) {
    const { seen: _, worst, ...lasting } = deviation
    const inProgress = { ended_at: null, ended_block: null, max_deviation_micros: worst, standing_tokens: null }
    excursions.push({ ...of, ...lasting, ...inProgress })
  }
  // What was measured of an excursion stays as it was.
  return excursions.map((excursion) =>
    excursion.started_block === open?.started_block
      ? { ...excursion, standing_tokens: open.standing_tokens }
      : excursion,
  )
}
