import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { keptWhile } from '../store/read-memory.js'
import { shared } from '../store/together.js'
import { recorded_by } from './covered-ranges.js'

const count = z.int().nonnegative()

/** Whether a stable is on the token list of the chain. */
export const Tier = z.enum(['listed', 'unlisted'])
export type Tier = z.infer<typeof Tier>

/** Whose pegs are sampled: of the listed stables, of all, or of the listed ones and of others that have a book. */
export const Track = z.enum(['listed', 'all', 'paired'])
export type Track = z.infer<typeof Track>

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

const recordedLists = keptWhile(
  ['token_lists'],
  shared(
    'token_lists',
    defineQuery({
      name: 'token_lists',
      params: z.object({ recorded_by }),
      row: TokenListRow,
      sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(from_block) AS from_block,
           toUnixTimestamp(holds_from) AS holds_from, track, stables
    FROM token_lists WHERE recorded_at <= {recorded_by: DateTime64(3)} ORDER BY token_lists.sequence_number`,
    }),
  ),
)

/** Every list that was recorded, by now or by `recorded_by`, in order; empty before ingest's first start. */
export const tokenLists = (
  clickhouse: ClickHouseClient,
  { recorded_by, ...options }: ReadOptions & { recorded_by?: Date | undefined } = {},
): Promise<TokenListRow[]> => recordedLists(clickhouse, { recorded_by }, options)

const isListedAt = (at: string): string =>
  `has((SELECT argMax(stables, sequence_number) FROM token_lists WHERE holds_from <= ${at}), stable)`

/** SQL: the tier of the column `stable` at an instant. Without a list, everything is unlisted. */
export const tierAt = (at: string): string => `if(${isListedAt(at)}, 'listed', 'unlisted')`

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
  track: Track
  listed: ReadonlySet<string>
}

/** Of the lists that were recorded, in order, those that hold for at least one block. */
function listsInForce<List extends { from_block: number }>(lists: readonly List[]): List[] {
  const effective: List[] = []
  for (const list of lists) {
    // A list may be recorded again for blocks that a rollback removed after an earlier one was.
    while ((effective.at(-1)?.from_block ?? -1) >= list.from_block) effective.pop()
    effective.push(list)
  }
  return effective
}

/** The stretches of history, oldest first. They are contiguous; the first begins with block 0, unless there is no list. */
export function listPeriods(lists: readonly TokenListRow[]): ListPeriod[] {
  return listsInForce(lists).map(({ from_block, holds_from, track, stables }, i, effective) => {
    const next = effective[i + 1]
    return {
      from_block,
      to_block: next?.from_block ?? null,
      from: holds_from,
      to: next?.holds_from ?? null,
      track,
      listed: new Set(stables),
    }
  })
}
