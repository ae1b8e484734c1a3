import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import type { PriceOf } from './agreed/prices.js'
import { PriceCursor, type StablePrices, stablePrices } from './agreed/stable-prices.js'
import { maxPegDeviation, PEG_EVENTS_SINCE_SETTINGS, PegExcursion, pegEventsSince } from './breaks.js'
import { BreakFinder, type BreakRule, type FinderState } from './hysteresis.js'
import { ALLOWED_MICROS } from './sums.js'

/** The severities of a break: the allowed deviation from 1, in millionths, and the minimum duration, in seconds. */
export const TRACKS = {
  mild: { allowed_micros: ALLOWED_MICROS['10bps'], min_seconds: 300 },
  severe: { allowed_micros: ALLOWED_MICROS['50bps'], min_seconds: 60 },
} as const

/** The tracks as rules of the finder: without smoothing, and a deviation ends where it begins. */
const RULES = Object.entries(TRACKS).map(([severity, { allowed_micros, min_seconds }]) => {
  const [enter_bps, exit_bps] = [allowed_micros / 100, allowed_micros / 100]
  const rule: BreakRule = {
    enter_bps,
    exit_bps,
    min_seconds,
    tau_seconds: 0,
    baseline_seconds: 0,
    unquoted_seconds: null,
  }
  return { severity: severity as keyof typeof TRACKS, rule }
})

/** The price that the tracks follow. */
const PRICE = { size_tokens: 1, agree_tokens: null } as const satisfies PriceOf

const ROW = `
  stable, severity, toUnixTimestamp(started_at) AS started_at, toUInt32(started_block) AS started_block, direction,
  toUnixTimestamp(confirmed_at) AS confirmed_at, toUnixTimestamp(ended_at) AS ended_at,
  toUInt32(ended_block) AS ended_block, max_deviation_micros, standing_tokens`

/** The excursions in progress at the end of a slot, as the newest slot that has seen each knew it. */
const excursionsSeen = defineQuery({
  name: 'peg_excursions',
  params: z.object({ at: z.date() }),
  row: PegExcursion.extend({ is_later: z.boolean() }),
  sql: `
    SELECT ${ROW}, (slot_at > {at: DateTime})::Bool AS is_later
    FROM (${pegEventsSince('{at: DateTime}')}) AS seen
    WHERE seen.started_at <= {at: DateTime} AND (seen.ended_at IS NULL OR seen.ended_at > {at: DateTime})
    ORDER BY stable, severity, seen.started_at, seen.started_block
    ${PEG_EVENTS_SINCE_SETTINGS}`,
})

/** The excursions in progress at the end of a slot, as known then, whatever later slots have found. */
export async function excursionsAt(clickhouse: ClickHouseClient, { at }: { at: Date }): Promise<PegExcursion[]> {
  const seen = await excursionsSeen(clickhouse, { at })
  const known = async ({ is_later, ...excursion }: (typeof seen)[number]): Promise<PegExcursion> => {
    if (!is_later) return excursion
    const { stable, started_at, started_block, confirmed_at } = excursion
    const since = { stable, started_at: new Date(started_at * 1000), started_block, to: at }
    const max = await maxPegDeviation(clickhouse, since)
    const isConfirmed = confirmed_at !== null && confirmed_at * 1000 <= at.getTime()
    return {
      ...excursion,
      max_deviation_micros: max ?? excursion.max_deviation_micros,
      confirmed_at: isConfirmed ? confirmed_at : null,
      standing_tokens: isConfirmed ? excursion.standing_tokens : null,
      ended_at: null,
      ended_block: null,
    }
  }
  return Promise.all(seen.map(known))
}

/**
 * The excursions of each slot, as known at its end: those in progress before it, and those that begin in its samples, except
 * the ones that ended in it and were too short to be events. A sample without a price neither continues nor ends an
 * excursion. `after` is the time after which the samples of the first slot begin, and `ends` has the times of the slots.
 * `standing_tokens` is as it was at `after`. Rejects with QueryError.
 */
export async function pegExcursions(
  clickhouse: ClickHouseClient,
  before: readonly PegExcursion[],
  { after, ends }: { after: number; ends: readonly number[] },
): Promise<PegExcursion[][]> {
  const samples = await stablePrices(clickhouse, PRICE, { from: after, to: ends.at(-1) ?? after })
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
    for (const { severity, rule } of RULES) {
      const cursor = new PriceCursor(pricesOf.get(stable) ?? new Int32Array())
      let open = before.find((excursion) => excursion.stable === stable && excursion.severity === severity) ?? null
      for (const [slot, end] of ends.entries()) {
        const ofSlot = nextExcursions(open, new BreakFinder(rule, open ? stateOf(open) : undefined), cursor, end)
        const own = ofSlot.map((excursion) => ({ ...excursion, stable, severity }))
        found[slot]?.push(...own)
        open = own.find(({ ended_at }) => ended_at === null) ?? null
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

/** The excursions of a slot, given the one in progress before it and a finder that continues it. */
function nextExcursions(
  open: PegExcursion | null,
  finder: BreakFinder,
  cursor: PriceCursor,
  end: number,
): Omit<PegExcursion, 'stable' | 'severity'>[] {
  cursor.addUntil(end, [finder])
  const { deviation } = finder.state
  // What was measured of an excursion stays as it was.
  const kept = (started_block: number) => ({
    standing_tokens: open?.started_block === started_block ? open.standing_tokens : null,
  })
  const excursions: Omit<PegExcursion, 'stable' | 'severity'>[] = []
  if (open && finder.brief) {
    const { worst, ...end } = finder.brief
    excursions.push({ ...open, ...end, max_deviation_micros: worst })
  }
  for (const found of finder.found()) {
    if (found.kind !== 'deviation') continue
    const { kind: _, seen: __, max_deviation_bps, ...lasting } = found
    excursions.push({
      ...lasting,
      max_deviation_micros: Math.round(max_deviation_bps * 100),
      ...kept(found.started_block),
    })
  }
  if (deviation && deviation.confirmed_at === null) {
    const { seen: _, worst, ...lasting } = deviation
    const inProgress = { ended_at: null, ended_block: null, max_deviation_micros: worst }
    excursions.push({ ...lasting, ...inProgress, ...kept(deviation.started_block) })
  }
  return excursions
}

/** The excursions whose row in peg_events is from a slot after `after` and a revision before `revision`. */
export const outdatedPegEvents = defineQuery({
  name: 'outdated_peg_events',
  params: z.object({ revision: z.int(), after: z.date() }),
  row: PegExcursion,
  sql: `
    SELECT ${ROW}
    FROM (${pegEventsSince('{after: DateTime}')})
    WHERE revision < {revision: UInt32} AND slot_at > {after: DateTime}
    ORDER BY stable, severity, started_at, started_block
    ${PEG_EVENTS_SINCE_SETTINGS}`,
})
