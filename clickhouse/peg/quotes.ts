import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, type QuerySignal, type ReadOptions } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { keptWhile } from '../store/read-memory.js'
import { byStable, shared, together } from '../store/together.js'
import { dateTime, integerText } from '../store/values.js'
import type { StoredSample } from './price.js'
import { hourOf, QUOTE_HOUR, quoteHoursOf } from './quote-hours.js'
import { newestSamples, OF_NEWEST_SAMPLES, SAMPLE, SampleTuple } from './samples.js'

/**
 * A stable that has no quote at an instant. `priced` is its last sample with a price, null if it never had one. `since`
 * is the time of its first sample without a quote after that one. With `is_bound` it may have been without a quote
 * before: there is no sample of the block before that of `since`.
 */
export type LostQuote = { priced: StoredSample | null; since: Date; is_bound: boolean }

/** When a stable was first sampled, when it last had a quote, and the first sample of an hour after that; null without one. */
type Hours = { sampled: Date; quoted: Date | null; following: Date | null }

const LostQuoteParams = z.object({ stables: z.array(z.string()), as_of: z.date() })

/** What the hours before the one of `as_of` say of these stables. */
const earlierHours = defineQuery({
  name: 'lost_quote_hours',
  params: LostQuoteParams,
  row: z.object({ stable: z.string(), sampled: dateTime, quoted: dateTime.nullable(), following: dateTime.nullable() }),
  sql: `
    SELECT stable, min(first_sampled) AS sampled, max(last_quoted) AS quoted,
           nullIf(arrayMin(arrayFilter(time -> time > quoted, groupArray(first_sampled))), toDateTime(0, 'UTC')) AS following
    FROM peg_quote_hours
    WHERE stable IN {stables: Array(String)} AND hour < toStartOfHour({as_of: DateTime})
    GROUP BY stable`,
})

/** What the samples up to `as_of` say of its hour. */
const hourOfInstant = defineQuery({
  name: 'lost_quote_hour',
  params: LostQuoteParams,
  row: z.object({ stable: z.string(), sampled: dateTime, quoted: dateTime.nullable() }),
  sql: `
    SELECT stable, first_sampled AS sampled, last_quoted AS quoted
    FROM (${quoteHoursOf('WHERE stable IN {stables: Array(String)} AND block_time >= toStartOfHour({as_of: DateTime}) AND block_time <= {as_of: DateTime}')})`,
})

/** What the earlier hours and the hour after them say together; null if a stable has no sample in any. */
export function hoursTogether(earlier: Hours | undefined, hour: Omit<Hours, 'following'> | undefined): Hours | null {
  if (!hour) return earlier ?? null
  const { sampled } = earlier ?? hour
  if (hour.quoted || !earlier?.quoted) return { sampled, quoted: hour.quoted, following: null }
  return { ...earlier, following: earlier.following ?? hour.sampled }
}

const SamplesAround = z.object({
  stable: z.string(),
  priced: SampleTuple,
  same_second: z.array(integerText.transform(Number)),
  next: z.array(z.tuple([dateTime, integerText.transform(Number)])).max(1),
})

/**
 * The samples of these stables from the last one with a price on, up to `as_of`: that sample, the blocks of its second
 * without a price, and the first sample after that second. They lie in the hour of that price, or the next one that has samples.
 */
const samplesAround = defineQuery({
  name: 'lost_quote_samples',
  params: LostQuoteParams.extend({
    quoted: z.array(z.date()),
    hours_of: z.array(z.string()),
    hours: z.array(z.date()),
  }),
  row: SamplesAround,
  sql: `
    WITH {quoted: Array(DateTime('UTC'))}[indexOf({stables: Array(String)}, stable)] AS quoted
    SELECT stable, argMaxIf(${SAMPLE}, block_number, sell_micros IS NOT NULL) AS priced,
           arraySort(groupArrayIf(block_number, block_time = quoted AND sell_micros IS NULL)) AS same_second,
           if(countIf(block_time > quoted) = 0, [], [minIf((block_time, block_number), block_time > quoted)]) AS next
    FROM peg_samples
    WHERE (stable, ${QUOTE_HOUR}) IN arrayZip({hours_of: Array(String)}, {hours: Array(DateTime('UTC'))})
      AND block_time <= {as_of: DateTime} AND block_time >= quoted
    GROUP BY stable`,
})

const creationsOf = defineQuery({
  name: 'lost_quote_creations',
  params: z.object({ stables: z.array(z.string()) }),
  row: z.object({ stable: z.string(), created_at: dateTime }),
  sql: `
    SELECT stable, min(block_time) AS created_at FROM stablecoins WHERE stable IN {stables: Array(String)} GROUP BY stable`,
})

/** When a quote was lost, given the samples around it. */
function lossOf({ priced, same_second, next: [next] }: Omit<z.output<typeof SamplesAround>, 'stable'>): LostQuote {
  const { block_number, block_time } = priced
  const following = same_second.find((block) => block > block_number)
  const [since, block] = following !== undefined ? [block_time, following] : (next ?? [block_time, null])
  return { priced, since, is_bound: block !== block_number + 1 }
}

const startOfHour = (time: Date): Date => new Date(hourOf(time.getTime() / 1000) * 1000)

type Options = { signal?: QuerySignal }

/**
 * The losses of those of some stables that were sampled by `as_of`, and whose newest sample by then has no price. The time of
 * the last quote comes from the hours before the one of `as_of`, and from the samples of that hour.
 */
async function lossesOf(
  clickhouse: ClickHouseClient,
  { stables, as_of }: { stables: string[]; as_of: Date },
  options: Options,
): Promise<(LostQuote & { stable: string })[]> {
  const [earlier, hour] = await Promise.all([
    earlierHours(clickhouse, { stables, as_of }, options),
    hourOfInstant(clickhouse, { stables, as_of }, options),
  ])
  const [inEarlier, inHour] = [byStable(earlier), byStable(hour)]
  const sampled = stables.flatMap((stable) => {
    const hours = hoursTogether(inEarlier(stable)[0], inHour(stable)[0])
    return hours ? { stable, ...hours } : []
  })
  const [priced, unpriced] = [sampled.filter(({ quoted }) => quoted), sampled.filter(({ quoted }) => !quoted)]
  const hours = priced.flatMap(({ stable, quoted, following }) =>
    [quoted, following].flatMap((time) => (time ? { stable, hour: startOfHour(time) } : [])),
  )
  const [around, creations] = await Promise.all([
    priced.length > 0
      ? samplesAround(
          clickhouse,
          {
            stables: priced.map(({ stable }) => stable),
            quoted: priced.map(({ quoted }) => quoted as Date),
            hours_of: hours.map(({ stable }) => stable),
            hours: hours.map(({ hour }) => hour),
            as_of,
          },
          options,
        )
      : [],
    unpriced.length > 0 ? creationsOf(clickhouse, { stables: unpriced.map(({ stable }) => stable) }, options) : [],
  ])
  const creationOf = byStable(creations)
  return [
    ...around.map(({ stable, ...samples }) => ({ stable, ...lossOf(samples) })),
    ...unpriced.map(({ stable, sampled }) => {
      const is_bound = sampled.getTime() > (creationOf(stable)[0]?.created_at.getTime() ?? 0)
      return { stable, priced: null, since: sampled, is_bound }
    }),
  ]
}

const OF_LOST_QUOTES = [...OF_NEWEST_SAMPLES, 'peg_quote_hours', 'stablecoins']

/** The losses of some stables, whose newest samples at or before `as_of` must have no price; none of one that has no sample any more. */
export const lostQuotesOf = keptWhile(
  OF_LOST_QUOTES,
  shared('lost_quotes', (clickhouse, { stables, as_of }: { stables: string[]; as_of: Date }, options) =>
    inParts(stables, (part) => lossesOf(clickhouse, { stables: part, as_of }, options)),
  ),
)

/** Of these newest samples, the stables of those without a price. */
export const unquotedAmong = (samples: Awaited<ReturnType<typeof newestSamples>>): string[] =>
  samples.flatMap(({ stable, newest }) => (newest.sell_micros === null ? stable : []))

/** The losses of every stable that was sampled shortly before `as_of` and whose newest sample by then has no price. */
export async function lostQuotes(clickhouse: ClickHouseClient, { as_of }: { as_of: Date }, options?: ReadOptions) {
  const stables = unquotedAmong(await newestSamples(clickhouse, { as_of }, options))
  return stables.length === 0 ? [] : lostQuotesOf(clickhouse, { stables, as_of }, options)
}

/**
 * The same of one stable, whose newest sample at or before `as_of` must have no price; null if the stable has no sample any
 * more, because a reorganization has removed it.
 */
export const lostQuote = keptWhile(
  OF_LOST_QUOTES,
  together('lost_quote', async (clickhouse, asked: { stables: string[]; as_of: Date }, options) => {
    const lost = byStable(await lossesOf(clickhouse, asked, options))
    return (stable): LostQuote | null => lost(stable)[0] ?? null
  }),
)
