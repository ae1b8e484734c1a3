import type { ClickHouseClient } from '@clickhouse/client'
import { differingFacts } from '../../clickhouse/facts/compare.js'
import { type FactTable, factTables, isByStable } from '../../clickhouse/facts/facts.js'
import { replaceRereadFacts } from '../../clickhouse/facts/replace.js'
import { TABLES } from '../../clickhouse/tables.js'
import { END_OF_TIME } from '../../process/instants.js'
import { type Finding, MOST_SHOWN } from './finding.js'
import type { Reread } from './reread.js'
import type { Stretch } from './stretches.js'

type Tally = {
  compared: number
  differing: number
  shown: string[]
  blocks: number
  unpriced: number
  letGo: number
}

export type FactComparison = {
  /** Compares the facts that the chain has for these blocks with those in the database. */
  compare: (reread: Reread) => Promise<void>
  /** One finding per table. `blocksIn` is how many blocks of each stretch were to be compared. */
  findings: (blocksIn: ReadonlyMap<Stretch, number>) => Finding[]
}

/** Whether a table's facts can be derived without the state of their block. Values of flows need the block's quotes. */
const isOfLogs = (table: FactTable): boolean => table !== 'flows' && !isByStable(table)

const rowsOf = ({ compared, differing, unpriced, letGo }: Tally, missed: number): string =>
  [
    `${compared} rows`,
    ...(differing === 0 ? [] : [`${differing} differ`]),
    ...(unpriced === 0 ? [] : [`without ${unpriced} blocks that are declared to have no values`]),
    ...(letGo === 0 ? [] : [`without ${letGo} blocks whose rows were let go by RETAIN_FEES_PAID_DAYS`]),
    ...(missed === 0 ? [] : [`without ${missed} blocks of which the node no longer has the state`]),
  ].join(', ')

/**
 * Compares facts row by row, including how often each occurs. `clickhouse` needs a session, for temporary tables. Fees of
 * blocks up to `letGoUntil`, in unix seconds, are not kept and not compared.
 */
export function compareFacts(clickhouse: ClickHouseClient, letGoUntil: number): FactComparison {
  const tallies = new Map<FactTable, Tally>(
    factTables.map((table) => [table, { compared: 0, differing: 0, shown: [], blocks: 0, unpriced: 0, letGo: 0 }]),
  )
  return {
    compare: async ({ facts, stretch, from, to, numbers, blocks: count, hasStates }) => {
      const times = facts.blocks.map(({ block_time }) => block_time)
      const range = {
        from_block: from,
        to_block: to,
        blocks: [...numbers],
        // The times of blocks that are not stored themselves are unknown.
        from_time: times.length === count && count > 0 ? Math.min(...times) : 0,
        to_time: times.length === count && count > 0 ? Math.max(...times) : END_OF_TIME,
        let_go_until: letGoUntil,
        most: MOST_SHOWN,
      }
      await replaceRereadFacts(clickhouse, facts)
      for (const [table, tally] of tallies) {
        const inFor = stretch.isIn[TABLES[table].family]
        if (inFor.length === 0 || (!hasStates && !isOfLogs(table))) continue
        if (table === 'flows' && !stretch.isPriced) {
          tally.unpriced += count
          continue
        }
        const letGo = table === 'fees_paid' ? times.filter((time) => time <= letGoUntil).length : 0
        tally.letGo += letGo
        tally.blocks += count - letGo
        const stables = inFor === 'all' ? [] : [...inFor]
        const { compared, differing, rows } = await differingFacts(clickhouse, table, { ...range, stables })
        tally.compared += compared
        tally.differing += differing
        for (const { surplus, ...row } of rows) {
          if (surplus === 0 || tally.shown.length >= MOST_SHOWN) continue
          const fate = surplus < 0 ? `${-surplus} missing` : `${surplus} too many`
          tally.shown.push(`${fate}: ${JSON.stringify(row)}`)
        }
      }
    },
    findings: (blocksIn) =>
      [...tallies].map(([table, tally]) => {
        const { family } = TABLES[table]
        const comparedBlocks = [...blocksIn].reduce(
          (sum, [{ isIn }, blocks]) => sum + (isIn[family].length > 0 ? blocks : 0),
          0,
        )
        return {
          what: `${table} row by row`,
          status: tally.differing > 0 ? 'mismatch' : tally.blocks === 0 ? 'not checked' : 'match',
          scope: rowsOf(tally, comparedBlocks - tally.blocks - tally.unpriced - tally.letGo),
          differences: tally.shown,
        }
      }),
  }
}
