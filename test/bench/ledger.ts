// Rows that the reads of ingest's ledger need, and how long they take, as the ledger grows.
import type { ClickHouseClient } from '@clickhouse/client'
import {
  ingestDelays,
  ingestProgress,
  newestBatch,
  newestCommittedBatch,
  TIP,
  trackStart,
} from '../../clickhouse/chain/batches.js'
import { coveredRanges } from '../../clickhouse/chain/covered-ranges.js'
import { readMissingFacts } from '../../clickhouse/chain/gaps.js'
import { settledSpan } from '../../clickhouse/chain/history.js'
import { unaccountedBackfill } from '../../clickhouse/chain/history-changes.js'
import { ledgerChanges, readLedger } from '../../clickhouse/chain/ledger.js'
import { slotBounds } from '../../clickhouse/jobs/slots.js'
import { openLedger } from '../../ingest/sinks/batch-ledger.js'
import { fillLedger } from '../support/ledger-rows.js'
import { rowsReadBy } from '../support/read-rows.js'
import { median, timed } from './measure.js'
import { startStack } from './stack.js'

const SIZES = (process.argv[2] ?? '100000,1000000,20000000').split(',').map(Number)
const RUNS = 3

const NOW = new Date()
const HOUR_AGO = new Date(NOW.getTime() - 3_600_000)

/** What reads the ledger, by name. */
const READS: Record<string, (clickhouse: ClickHouseClient, batches: number) => Promise<unknown>> = {
  newestBatch: (clickhouse) => newestBatch(clickhouse, { track: TIP }),
  newestCommittedBatch: (clickhouse) => newestCommittedBatch(clickhouse, { track: TIP }),
  'newestBatch (no such track)': (clickhouse) => newestBatch(clickhouse, { track: 'none' }),
  trackStart: (clickhouse) => trackStart(clickhouse, { track: TIP }),
  openLedger: (clickhouse) => openLedger(clickhouse, TIP, 1),
  coverage: (clickhouse) => coveredRanges(clickhouse),
  'coverage as known 10 days ago': (clickhouse) =>
    coveredRanges(clickhouse, { recorded_by: new Date(NOW.getTime() - 864_000_000) }),
  readLedger: (clickhouse) => readLedger(clickhouse, {}),
  ledgerChanges: (clickhouse, batches) =>
    ledgerChanges(clickhouse, { tip: batches - 10, backfill: 1, catalogue: 0, others: 0 }),
  readMissingFacts: (clickhouse) => readMissingFacts(clickhouse),
  ingestProgress: (clickhouse) => ingestProgress(clickhouse, { since: HOUR_AGO }),
  ingestDelays: (clickhouse) => ingestDelays(clickhouse, { now: NOW }),
  unaccountedBackfill: (clickhouse) => unaccountedBackfill(clickhouse, { quiet_seconds: 60 }),
  settledSpan: (clickhouse) => settledSpan(clickhouse),
  slotBounds: (clickhouse) => slotBounds(clickhouse),
}

const stack = await startStack()
try {
  for (const batches of SIZES) {
    const { clickhouse } = await stack.database(`ledger_${batches}`)
    const filled = await timed(() => fillLedger(clickhouse, { batches, now: NOW }))
    console.log(`${batches} batches of the tip, filled in ${(filled / 1000).toFixed(1)} s`)
    for (const [name, read] of Object.entries(READS)) {
      const rows = await rowsReadBy(clickhouse, (counted) => read(counted, batches)).catch(() => null)
      if (rows === null) {
        console.log(`  ${name}: no answer in the client's 30 s`)
        continue
      }
      const times: number[] = []
      for (let run = 0; run < RUNS; run++) times.push(await timed(() => read(clickhouse, batches)))
      console.log(`  ${name}: ${rows} rows, ${median(times).toFixed(0)} ms`)
    }
    const plan = await timed(async () => {
      const ledger = await openLedger(clickhouse, TIP, 1)
      await ledger.plan({ from: batches + 1, to: batches + 1, lastHash: '0x' })
      await ledger.commit()
    })
    console.log(`  open, plan and commit a batch: ${plan.toFixed(0)} ms`)
    await clickhouse.command({ query: `DROP DATABASE ledger_${batches} SYNC` })
  }
} finally {
  await stack.close()
}
