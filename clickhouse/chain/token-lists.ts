import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { together } from '../store/together.js'
import { recorded_by } from './covered-ranges.js'

const count = z.int().nonnegative()

/** Whether a stable is on the token list of the chain. */
export const Tier = z.enum(['listed', 'unlisted'])
export type Tier = z.infer<typeof Tier>

/** Whose pegs are sampled. */
const Track = z.enum(['listed', 'all'])

/**
 * A token list and what was sampled with it. It holds from block `from_block` and from the instant `holds_from`, in unix
 * seconds, until the next one does. `stables` are lower-case addresses; some may not exist yet.
 */
const TokenListRow = z.object({
  sequence_number: count,
  from_block: count,
  holds_from: count,
  track: Track,
  stables: z.array(z.string()),
})
export type TokenListRow = z.infer<typeof TokenListRow>

/** Records a list. A number can be recorded only once: a second list with the same number changes nothing. */
export const insertTokenList = (clickhouse: ClickHouseClient, list: TokenListRow & { source: string }): Promise<void> =>
  insertRows(clickhouse, 'token_lists', [list], `${list.sequence_number}`)

const recordedLists = defineQuery({
  name: 'token_lists',
  params: z.object({ recorded_by }),
  row: TokenListRow,
  sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(from_block) AS from_block,
           toUnixTimestamp(holds_from) AS holds_from, track, stables
    FROM token_lists WHERE recorded_at <= {recorded_by: DateTime64(3)} ORDER BY token_lists.sequence_number`,
})

/** Every list that was recorded, by now or by `recorded_by`, in order; empty before ingest's first start. */
export const tokenLists = (
  clickhouse: ClickHouseClient,
  { recorded_by, ...options }: { signal?: QuerySignal; recorded_by?: Date } = {},
): Promise<TokenListRow[]> => recordedLists(clickhouse, { recorded_by }, options)

const isListedAt = (at: string): string =>
  `has((SELECT argMax(stables, sequence_number) FROM token_lists WHERE holds_from <= ${at}), stable)`

/** SQL: the tier of the column `stable` at an instant. Without a list, everything is unlisted. */
export const tierAt = (at: string): string => `if(${isListedAt(at)}, 'listed', 'unlisted')`

/** SQL: whether the pegs of the column `stable` are sampled at an instant. Without a list, all are. */
export const isSampledAt = (at: string): string =>
  `((SELECT count() = 0 OR argMax(track, sequence_number) = 'all' FROM token_lists WHERE holds_from <= ${at}) OR ${isListedAt(at)})`

/**
 * SQL: whether the stable of a row of `stablecoins` is in use at an instant: it is on the token list, has a pair on the
 * exchange, or is as old as the chain. Anybody can create stables, so what is kept of each at every slot is kept of these
 * only.
 */
export const isInUseAt = (at: string): string =>
  `(stablecoins.block_number = 0 OR ${isListedAt(at)} OR stable IN (SELECT arrayJoin([base, quote]) FROM dex_pairs WHERE block_time <= ${at}))`

/**
 * A stretch of history with one list. Blocks and unix seconds; `to_block` and `to` are the first of the next stretch, null
 * for the last.
 */
export type ListPeriod = {
  from_block: number
  to_block: number | null
  from: number
  to: number | null
  /** Whether the list has this address. */
  lists: (stable: string) => boolean
  /** Whether the pegs of a stable are sampled. */
  samples: (stable: string) => boolean
}

/** Of the lists that were recorded, in order, those that hold for any block. */
function holding<List extends { from_block: number }>(lists: readonly List[]): List[] {
  const held: List[] = []
  for (const list of lists) {
    // A list may be recorded again for blocks that a rollback removed after an earlier one was.
    while ((held.at(-1)?.from_block ?? -1) >= list.from_block) held.pop()
    held.push(list)
  }
  return held
}

/** The stretches of history, oldest first. They are contiguous; the first begins with block 0, unless there is no list. */
export function listPeriods(lists: readonly TokenListRow[]): ListPeriod[] {
  return holding(lists).map(({ from_block, holds_from, track, stables }, i, held) => {
    const listed = new Set(stables)
    const next = held[i + 1]
    return {
      from_block,
      to_block: next?.from_block ?? null,
      from: holds_from,
      to: next?.holds_from ?? null,
      lists: (stable) => listed.has(stable),
      samples: (stable) => track === 'all' || listed.has(stable),
    }
  })
}

/** A stable is not sampled: since when, if it was before; null if it never was. */
export type Unsampled = { since: Date | null }

/** Whether a stable is sampled with the last of these lists: null if it is, or if there is no list. */
function unsampledWith(lists: readonly { from_block: number; holds_from: number; is_sampled: boolean }[]) {
  const held = holding(lists)
  const first = held.findLastIndex(({ is_sampled }) => is_sampled) + 1
  const began = held[first]
  if (!began) return null
  return { since: first === 0 ? null : new Date(began.holds_from * 1000) }
}

const samplingLists = defineQuery({
  name: 'sampling_lists',
  params: z.object({ stables: z.array(z.string()), at: z.date(), recorded_by }),
  row: z.object({ from_block: count, holds_from: count, sampled: z.array(z.string()) }),
  sql: `
    SELECT toUInt32(from_block) AS from_block, toUnixTimestamp(holds_from) AS holds_from,
           arrayFilter(stable -> track = 'all' OR has(stables, stable), {stables: Array(String)}) AS sampled
    FROM token_lists
    WHERE token_lists.holds_from <= {at: DateTime} AND recorded_at <= {recorded_by: DateTime64(3)} ORDER BY sequence_number`,
})

/** Since when a stable is not sampled as of `at`, by the lists recorded by `recorded_by`; null if it is sampled then. */
export const unsampledAt = together(
  'sampling_lists',
  async (clickhouse, asked: { stables: string[]; at: Date; recorded_by?: Date | undefined }, options) => {
    const lists = await samplingLists(clickhouse, asked, options)
    return (stable) => unsampledWith(lists.map((list) => ({ ...list, is_sampled: list.sampled.includes(stable) })))
  },
)

/** The same for any stable. */
export async function unsampledStablesAt(
  clickhouse: ClickHouseClient,
  { at }: { at: Date },
  options?: { signal?: AbortSignal },
): Promise<(stable: string) => Unsampled | null> {
  const lists = (await tokenLists(clickhouse, options)).filter(({ holds_from }) => holds_from * 1000 <= at.getTime())
  const listed = lists.map(({ stables }) => new Set(stables))
  return (stable) =>
    unsampledWith(
      lists.map((list, i) => ({ ...list, is_sampled: list.track === 'all' || listed[i]?.has(stable) === true })),
    )
}

/** A stretch in which a stable is not sampled: blocks and unix seconds, the ends excluded; null while it lasts. */
export type UnsampledRange = Pick<ListPeriod, 'from_block' | 'to_block' | 'from' | 'to'>

/** The stretches in which a stable that was created at `created` is not sampled, oldest first. */
export function unsampledRanges(
  periods: readonly ListPeriod[],
  { stable, created }: { stable: string; created: { block_number: number; block_time: number } },
): UnsampledRange[] {
  const ranges: UnsampledRange[] = []
  for (const { from_block, to_block, from, to, samples } of periods) {
    if (samples(stable) || (to_block !== null && to_block <= created.block_number)) continue
    const last = ranges.at(-1)
    if (last && last.to_block === from_block) [last.to_block, last.to] = [to_block, to]
    else {
      const start = Math.max(from_block, created.block_number)
      ranges.push({ from_block: start, to_block, from: Math.max(from, created.block_time), to })
    }
  }
  return ranges
}
