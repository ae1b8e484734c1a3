import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'

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

/** Every list that was recorded, in order; empty before ingest's first start. */
export const tokenLists = defineQuery({
  name: 'token_lists',
  row: TokenListRow,
  sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(from_block) AS from_block,
           toUnixTimestamp(holds_from) AS holds_from, track, stables
    FROM token_lists ORDER BY token_lists.sequence_number`,
})

/** SQL: the tier of the column `stable` at an instant. Without a list, everything is unlisted. */
export const tierAt = (at: string): string => `
  if(has((SELECT argMax(stables, sequence_number) FROM token_lists WHERE holds_from <= ${at}), stable), 'listed', 'unlisted')`

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

/** The stretches of history, oldest first. They are contiguous; the first begins with block 0, unless there is no list. */
export function listPeriods(lists: readonly TokenListRow[]): ListPeriod[] {
  const holding: TokenListRow[] = []
  for (const list of lists) {
    // A list may be recorded again for blocks that a rollback removed after an earlier one was.
    while ((holding.at(-1)?.from_block ?? -1) >= list.from_block) holding.pop()
    holding.push(list)
  }
  return holding.map(({ from_block, holds_from, track, stables }, i) => {
    const listed = new Set(stables)
    const next = holding[i + 1]
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
