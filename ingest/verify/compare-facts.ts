import type { ClickHouseClient } from '@clickhouse/client'
import { differingFacts } from '../../clickhouse/queries/differing-facts.js'
import { FACT_TABLES, type FactTable, factTables } from '../../clickhouse/tables/facts.js'
import { replaceRereadFacts } from '../../clickhouse/tables/reread-facts.js'
import { type Finding, MOST_SHOWN } from './finding.js'
import type { Reread } from './reread.js'

type Tally = { compared: number; differing: number; shown: string[]; blocks: number }

export type FactComparison = {
  /** Compares the facts that the chain has for these blocks with those in the database. */
  compare: (reread: Reread) => Promise<void>
  /** A finding for each table, of the `asked` blocks that were to be compared. */
  findings: (asked: number) => Finding[]
}

/** Whether facts can be told without the state of their block. What a flow is worth is its block's quotes. */
const isOfLogs = (table: FactTable): boolean =>
  table !== 'flows' && (FACT_TABLES[table].family === 'catalogue' || FACT_TABLES[table].family === 'logs')

/** Compares facts row by row, also how often each is there. `clickhouse` needs a session, for temporary tables. */
export function compareFacts(clickhouse: ClickHouseClient): FactComparison {
  const tallies = new Map<FactTable, Tally>(
    factTables.map((table) => [table, { compared: 0, differing: 0, shown: [], blocks: 0 }]),
  )
  return {
    compare: async ({ facts, hasStates, blocks: count }) => {
      const times = facts.blocks.map(({ block_time }) => block_time)
      const blocks = {
        blocks: facts.blocks.map(({ block_number }) => block_number),
        from_time: Math.min(...times),
        to_time: Math.max(...times),
        most: MOST_SHOWN,
      }
      await replaceRereadFacts(clickhouse, facts)
      for (const [table, tally] of tallies) {
        if (!hasStates && !isOfLogs(table)) continue
        tally.blocks += count
        const rows = await differingFacts(clickhouse, table, blocks)
        tally.compared += rows[0]?.compared ?? 0
        tally.differing += rows[0]?.differing ?? 0
        for (const { surplus, differing: _, compared: __, ...row } of rows) {
          if (surplus === 0 || tally.shown.length >= MOST_SHOWN) continue
          const fate = surplus < 0 ? `missing ${-surplus} times` : `there ${surplus} times too often`
          tally.shown.push(`${fate}: ${JSON.stringify(row)}`)
        }
      }
    },
    findings: (asked) =>
      [...tallies].map(([table, { compared, differing, shown, blocks }]) => {
        const missed = asked - blocks
        const why = missed === 0 ? '' : `, without ${missed} blocks of which the node no longer has the state`
        return {
          what: `${table} row by row`,
          status: differing > 0 ? 'mismatch' : blocks === 0 ? 'not checked' : 'match',
          scope: `${compared} rows${differing === 0 ? '' : `, ${differing} differ`}${why}`,
          differences: shown,
        }
      }),
  }
}
