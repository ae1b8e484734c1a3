import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { newestBatch } from '../../../../clickhouse/chain/batches.js'
import { factTables } from '../../../../clickhouse/facts/facts.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { useStillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, startIngest } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'

const chain = useStillChain({ historyBlocks: 120 })

const FROM = '(SELECT min(block_time) FROM blocks WHERE block_number >= {from: UInt64})'
/** Rows of a view's table that belong to a batch. */
const LOST: Readonly<Record<string, string>> = {
  peg_minutes: `minute_end >= ${FROM} AND stable NOT LIKE '%a'`,
  peg_quote_hours: `hour >= toStartOfHour(${FROM}) AND stable NOT LIKE '%a'`,
  flow_buckets: `window_start >= ${FROM}`,
  flow_edge_starts: `(from_token, to_token) IN (SELECT from_token, to_token FROM flows GROUP BY ALL HAVING min(block_number) >= {from: UInt64})`,
  fee_choices: `bitShiftRight(position, 32) >= {from: UInt64}`,
}

/** Imitates a kill of ingest before it recorded the end of its newest batch. */
const forgetCommit = (clickhouse: ClickHouseClient) =>
  clickhouse.command({
    query: `DELETE FROM ingest_batches WHERE state = 'committed' AND track = 'tip'
            AND sequence_number = (SELECT max(sequence_number) FROM ingest_batches WHERE track = 'tip')`,
  })

/** Lets ingest repeat its newest batch. */
async function repeatBatch(env: ClickHouseEnv, clickhouse: ClickHouseClient): Promise<void> {
  const ingest = startIngest(env, chain.rpcUrl)
  const isCommitted = async () => (await newestBatch(clickhouse, { track: 'tip' }))?.committed
  while (ingest.child.exitCode === null && !(await isCommitted())) await sleep(200)
  await ingest.kill('SIGTERM')
}

// Imitates a kill between recording an insert's token and storing its rows.
test.for([
  ['a table', ['flows', 'supply_events']],
  ['the samples', ['peg_samples']],
  ['the view behind the samples', ['peg_minutes']],
  ['the hours behind the samples', ['peg_quote_hours']],
  ['the buckets behind the flows', ['flow_buckets']],
  ['the starts of the edges', ['flow_edge_starts']],
  [
    'everything',
    [
      'blocks',
      'peg_samples',
      'peg_minutes',
      'peg_quote_hours',
      'depth_samples',
      'flows',
      'flow_buckets',
      'flow_edge_starts',
      'dex_orders',
      'supply_events',
      'fees_paid',
      'fee_elections',
      'fee_choices',
      'state_reads',
    ],
  ],
] as const)(
  'a repeated batch detects that %s lost its rows although their token is recorded',
  async ([, tables], { clickhouseEnv, clickhouse }) => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
    const expected = await fingerprint(clickhouse)
    const last = await newestBatch(clickhouse, { track: 'tip' })
    const from = last?.from_block ?? 0
    const run = (query: string) => clickhouse.command({ query, query_params: { from } })
    await forgetCommit(clickhouse)
    for (const table of tables) {
      await run(`DELETE FROM ${table} WHERE ${LOST[table] ?? 'block_number >= {from: UInt64}'}`)
    }
    expect(await fingerprint(clickhouse)).not.toEqual(expected)

    await repeatBatch(clickhouseEnv, clickhouse)
    expect(await fingerprint(clickhouse)).toEqual(expected)
  },
)

// A backfill's inserts displace the tokens of the tip's; a copy of a database has none.
test('a batch that is repeated after the tokens of its inserts have expired is stored once', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const expected = await fingerprint(clickhouse)
  await forgetCommit(clickhouse)
  for (const table of [...factTables, 'peg_minutes', 'flow_buckets', 'flow_edge_starts']) {
    for (const window of [0, 1000])
      await clickhouse.command({
        query: `ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = ${window}`,
      })
  }
  await repeatBatch(clickhouseEnv, clickhouse)
  expect(await fingerprint(clickhouse)).toEqual(expected)
})
