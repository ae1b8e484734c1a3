import type { ClickHouseClient } from '@clickhouse/client'
import { differingFacts } from '../../clickhouse/queries/differing-facts.js'
import { type FactTable, factTables } from '../../clickhouse/tables/facts.js'
import { replaceRereadFacts } from '../../clickhouse/tables/reread-facts.js'
import type { Batch } from '../batch.js'
import { type Finding, MOST_SHOWN } from './finding.js'

type Tally = { compared: number; differing: number; shown: string[] }

export type FactComparison = {
  /** Compares the facts that the chain has for these blocks with those in the database. */
  compare: (reread: Pick<Batch, 'facts'>) => Promise<void>
  /** A finding for each table. */
  findings: () => Finding[]
}

/** Compares facts row by row, also how often each is there. `clickhouse` needs a session, for temporary tables. */
export function compareFacts(clickhouse: ClickHouseClient): FactComparison {
  const tallies = new Map<FactTable, Tally>(
    factTables.map((table) => [table, { compared: 0, differing: 0, shown: [] }]),
  )
  return {
    compare: async ({ facts }) => {
      const times = facts.blocks.map(({ block_time }) => block_time)
      const blocks = {
        blocks: facts.blocks.map(({ block_number }) => block_number),
        from_time: Math.min(...times),
        to_time: Math.max(...times),
        most: MOST_SHOWN,
      }
      await replaceRereadFacts(clickhouse, facts)
      for (const [table, tally] of tallies) {
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
    findings: () =>
      [...tallies].map(([table, { compared, differing, shown }]) => ({
        what: `${table} row by row`,
        status: differing === 0 ? 'match' : 'mismatch',
        scope: `${compared} rows${differing === 0 ? '' : `, ${differing} differ`}`,
        differences: shown,
      })),
  }
}
