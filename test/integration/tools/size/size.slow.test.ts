import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { DAY_SECONDS } from '../../../../process/instants.js'
import { type Estimate, estimate } from '../../../../tools/size/estimate.js'
import { type Measured, measure } from '../../../../tools/size/measured.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { runJobs } from '../../../support/ran-slots.js'
import { test } from '../../../support/services.js'

const BLOCK_SECONDS = 6
const blocksOf = (minutes: number): number => (minutes * 60) / BLOCK_SECONDS
const SEED = 7
const PROGRAM = new URL('../../../../dist/tools/size/size-main.js', import.meta.url).pathname

test('from ten minutes of a chain it says what sixty need, within 15 %', async ({ clickhouseEnv, clickhouse }) => {
  const chain = await stillChain({ historyBlocks: blocksOf(60), blockSeconds: BLOCK_SECONDS, seed: SEED })
  const measureTo = async (minutes: number): Promise<Measured> => {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, blocksOf(minutes), { BATCH_BLOCKS: '20' })
    await runJobs(clickhouse, ['peg-events', 'peg-tracks', 'risk', 'reserves', 'flow-anomalies'])
    return (await measure(clickhouse, 0)) as Measured
  }
  try {
    const short = await measureTo(10)
    // As ClickHouse merges them sooner or later.
    for (const { table, parts } of (await measureTo(60)).tables)
      if (parts > 1) await clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
    const long = (await measure(clickhouse, 0)) as Measured
    const seconds = long.stretch.to_time - short.stretch.to_time

    // The market has bursts of trade that its first ten minutes do not show: their rate is given, as an operator would.
    const sent = `SELECT toUInt32(sum(tx_count)) AS sent FROM blocks WHERE block_number > ${short.stretch.to_block}`
    const [row] = await (await clickhouse.query({ query: sent, format: 'JSONEachRow' })).json<{ sent: number }>()
    const transactionsPerSecond = (row?.sent ?? 0) / seconds

    const { disk, tables } = estimate(short, { days: seconds / DAY_SECONDS, replicas: 1, transactionsPerSecond })
    const found = new Map(long.tables.map(({ table, bytes }) => [table, bytes]))
    const stored = [...found.values()].reduce((sum, bytes) => sum + bytes, 0)
    const each = tables.map(({ table, bytes }) => `${table} ${((bytes / (found.get(table) ?? 0)) * 100).toFixed(0)} %`)
    expect(Math.abs(disk.one_replica / stored - 1), each.join(', ')).toBeLessThan(0.15)

    const sizeOf = async (...flags: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, [PROGRAM, ...flags], { env: clickhouseEnv })).stdout
    const flags = ['--days', '30', '--replicas', '3', '--metrics', 'http://127.0.0.1:9']
    const report = JSON.parse(await sizeOf('--json', ...flags)) as Pick<Estimate, 'disk'> & { not_measured: string[] }
    const { one_replica, for_merges, all_replicas } = report.disk
    expect(one_replica).toBeGreaterThan(stored)
    expect(all_replicas).toBeCloseTo(3 * (one_replica + for_merges), 3)
    expect(report).toMatchObject({
      measured_over: long.stretch,
      cpu: { ingest_seconds_per_block: null },
      cores: { api: null },
      memory: { jobs: null },
    })
    const text = await sizeOf(...flags)
    for (const reason of report.not_measured) expect(text).toContain(`not measured: ${reason}`)
    for (const what of ['metrics at 127.0.0.1:9', 'ingest', 'the API', 'the jobs'])
      expect(report.not_measured.join('\n')).toContain(what)
  } finally {
    await chain.remove()
  }
}, 600_000)
