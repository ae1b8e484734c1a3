import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { stillChain } from '../../../support/chain.js'
import { type CopyTo, withIngested } from '../../../support/ingested.js'
import { addApiKey } from '../../../support/keys.js'
import type { TestChain } from '../../../support/own-chain.js'
import { runJobs } from '../../../support/ran-slots.js'
import { test as base } from '../../../support/services.js'
import { mismatches, runVerify } from '../../../support/verify.js'

// Ten hours at a block every four minutes.
const BLOCKS = 150
const SAMPLE = process.env.VERIFY_SAMPLE ?? '400'

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: BLOCKS, blockSeconds: 240, seed: 11 })
})
afterAll(async () => {
  await chain?.remove()
})

const test = base.extend<{ copyChain: CopyTo }>({
  copyChain: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withIngested(chain, {}, use),
    { scope: 'file' },
  ],
})

const run = (clickhouse: ClickHouseClient, query: string) =>
  clickhouse.command({ query, clickhouse_settings: { mutations_sync: '2', lightweight_deletes_sync: '2' } })

/** A break of every stable in the first two hours that never was: breaks are rare, so most answers about them are empty. */
const falseBreak = (track: string): string => `
  INSERT INTO peg_breaks (track, stable, severity, started_at, started_block, confirmed_at, direction, max_deviation_micros, slot_at)
  SELECT DISTINCT '${track}', stable, 'severe', start + 7, 1, start + 3600, 'below', 900000, start + 7200
  FROM peg_samples CROSS JOIN (SELECT min(block_time) AS start FROM blocks) AS history`

/** A small error in every row of a figure, by the answers that it bends. */
const PLANTED: Readonly<Record<string, string>> = {
  'list of stables': 'ALTER TABLE state_reads UPDATE supply_raw = supply_raw + 1 WHERE 1',
  'single stable': "ALTER TABLE role_events UPDATE tx_hash = '0x' WHERE 1",
  peg: 'ALTER TABLE peg_minutes UPDATE deviation_sum = deviation_sum + 1 WHERE 1',
  'peg averages': 'ALTER TABLE peg_samples UPDATE sell_micros = sell_micros + 1 WHERE sell_micros IS NOT NULL',
  'peg events': falseBreak('published'),
  'agreed breaks': falseBreak('agreed'),
  depth: 'ALTER TABLE depth_samples UPDATE sell_raw = sell_raw + 1 WHERE 1',
  liquidity: 'ALTER TABLE depth_samples UPDATE sell_raw = sell_raw + 1 WHERE 1',
  'liquidity series': 'ALTER TABLE depth_samples UPDATE buy_raw = buy_raw + 1 WHERE 1',
  rewards: 'ALTER TABLE reward_distributions UPDATE amount_raw = amount_raw + 1 WHERE 1',
  issuance: "ALTER TABLE supply_events UPDATE account = '0x' WHERE 1",
  holders: 'ALTER TABLE transfers UPDATE amount_raw = amount_raw + 1 WHERE 1',
  roles: "ALTER TABLE role_probes UPDATE role_name = 'x' WHERE 1",
  'fee economics': 'ALTER TABLE fee_distributions UPDATE amount_raw = amount_raw + 1 WHERE 1',
  risk: 'ALTER TABLE risk_snapshots UPDATE composite = composite + 0.001 WHERE 1',
  'risk series': 'ALTER TABLE risk_snapshots UPDATE supply_risk = supply_risk + 0.01 WHERE 1',
  'extended risk':
    'ALTER TABLE extended_snapshots UPDATE liquidity = liquidity + 0.01, issuance = issuance - 0.01 WHERE 1',
  reserves: 'ALTER TABLE reserve_snapshots UPDATE price_micros = price_micros + 1 WHERE 1',
  'flow anomalies': `
    INSERT INTO flow_anomalies (window_start, from_token, to_token, observed_micros, tx_count, bucket_count, observation_count,
                                baseline_sum, baseline_square_sum, revision, is_deleted)
    SELECT toStartOfFifteenMinutes(min(block_time)), '0x01', '0x02', 9000000, 1, 20, 10, 20, 30, 0, 0 FROM blocks`,
  'peg series': 'ALTER TABLE peg_samples UPDATE sell_micros = sell_micros + 1 WHERE sell_micros IS NOT NULL',
  'supply series': 'ALTER TABLE supply_events UPDATE amount_raw = amount_raw + 1 WHERE 1',
  flows: 'ALTER TABLE flow_buckets UPDATE volume_micros = volume_micros + 1 WHERE 1',
  'flow scores': 'ALTER TABLE flow_buckets UPDATE volume_micros = volume_micros + 1 WHERE 1',
  'flow history': 'ALTER TABLE flow_buckets UPDATE volume_micros = volume_micros + 1 WHERE 1',
  'flow export': 'ALTER TABLE flows UPDATE usd_micros = usd_micros + 1 WHERE 1',
  'peg columns': 'ALTER TABLE peg_minutes UPDATE deviation_max = deviation_max + 1 WHERE deviation_max IS NOT NULL',
  'window columns': 'ALTER TABLE peg_minutes UPDATE deviation_min = deviation_min - 1 WHERE deviation_min IS NOT NULL',
  'depth columns': 'ALTER TABLE depth_samples UPDATE buy_raw = buy_raw + 1 WHERE 1',
  'figures of the list': 'ALTER TABLE risk_snapshots UPDATE composite = composite - 0.5 WHERE 1',
  events: 'ALTER TABLE events UPDATE occurred_at = occurred_at - 1 WHERE 1',
  coverage: 'ALTER TABLE blocks DELETE WHERE block_number = 1',
  // A change of history that never was: slots after it have to be run again.
  'coverage of searches': `
    CREATE OR REPLACE VIEW history_revisions AS
    SELECT toUInt64(1000) AS revision, (SELECT min(slot_at) + INTERVAL 3 HOUR FROM job_runs) AS kept_time, true AS is_done,
           false AS is_rollback, toDateTime64(0, 3, 'UTC') AS recorded_at`,
  briefings: 'ALTER TABLE state_reads UPDATE cap_raw = cap_raw - 1 WHERE 1',
}

const answersOf = (output: string): string[] => output.split('\n').filter((line) => line.includes('recomputed'))

test('published answers equal those recomputed from the node, and an error planted in any family is found', async ({
  clickhouseEnv,
  clickhouse,
  copyChain,
}) => {
  await copyChain(clickhouse, clickhouseEnv)
  await runJobs(clickhouse, ['peg-events', 'peg-tracks', 'risk', 'reserves', 'flow-anomalies'])
  const { key } = await addApiKey(clickhouse)
  const sampled = async () => {
    // A new one for each run, so that no answer comes from its memory.
    const app = await buildApp({ clickhouse, now: () => new Date(), logger: pino({ level: 'silent' }) })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const flags = ['--sample', SAMPLE, '--seed', '3', '--api', url]
    const result = await runVerify({ ...clickhouseEnv, VERIFY_API_KEY: key }, chain.rpcUrl, ...flags)
    await app.close()
    return result
  }
  const whole = await sampled()
  expect(mismatches(whole.output), whole.output).toEqual([])
  expect(whole.code, whole.output).toBe(0)
  const compared = answersOf(whole.output).filter((line) => /^match +.*: \d+ answers(,|$)/.test(line))
  expect(compared, whole.output).toHaveLength(Object.keys(PLANTED).length)

  for (const error of Object.values(PLANTED)) await run(clickhouse, error)
  const bent = await sampled()
  expect(bent.code).toBe(1)
  expect(
    answersOf(bent.output).filter((line) => !line.startsWith('mismatch')),
    bent.output,
  ).toEqual([])
}, 1_800_000)
