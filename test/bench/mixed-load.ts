// 64 connections over 50 stables with ingest at work, without and with the cache; answers about the past that nobody has
// asked for before against SELECT 1. With a number of minutes: memory under that load.
import { deepStrictEqual } from 'node:assert'
import type { ClickHouseClient } from '@clickhouse/client'
import { startApiMarket } from './api-market.js'
import { load } from './http-load.js'
import { percentile, timed } from './measure.js'
import { statsOf } from './process-stats.js'
import { rows } from './stack.js'

const SECONDS = 8
const INSTANTS = 150
const minutes = Number(process.argv[2] ?? 0)

const market = await startApiMarket(50)
try {
  const [cached, uncached] = [await market.startApi(64), await market.startApi(0)]
  await market.goLive()
  const base = '/api/v1/stablecoins'
  const paths = [
    ...market.stables.flatMap((stable) =>
      ['', '/peg', '/depth', '/roles', '/rewards', '/peg-events'].map((what) => `${base}/${stable}${what}`),
    ),
    base,
    `${base}/flows`,
    '/api/v1/fee-economics/overview',
  ]
  if (minutes > 0) await measureMemory(cached, paths)
  else {
    for (const [what, server] of [
      ['off', uncached],
      ['on', cached],
    ] as const) {
      const [from, before] = [Date.now(), statsOf(market.enginePid).cpuSeconds]
      const { perSecond, p99, failed, cpuSeconds } = await load(server, { paths, seconds: SECONDS })
      const answers = perSecond * SECONDS
      const engine = (statsOf(market.enginePid).cpuSeconds - before) / answers
      console.log(
        `mixed load, cache ${what}: ${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(0)} ms, ${failed} failed (target: 0); an answer: ${((await statementsSince(market.clickhouse, from)) / answers).toFixed(2)} statements, ${(engine * 1000).toFixed(1)} ms of CPU of the engine and ${(cpuSeconds * 1000).toFixed(1)} of the API`,
      )
    }
    await measureAsOf(market.clickhouse, `${cached.url}${base}`, market.stables)
  }
} finally {
  await market.close()
}

/** The reads of all processes, of which ingest makes a few for each block. */
async function statementsSince(clickhouse: ClickHouseClient, fromMs: number): Promise<number> {
  await clickhouse.command({ query: 'SYSTEM FLUSH LOGS' })
  const [found] = await rows<{ statements: number }>(
    clickhouse,
    `SELECT toUInt32(count()) AS statements FROM system.query_log
     WHERE event_time_microseconds > fromUnixTimestamp64Milli(${fromMs}) AND type = 'QueryFinish' AND log_comment != '' AND query_kind = 'Select'`,
  )
  return found?.statements ?? 0
}

/** Each instant is asked for once; beside it SELECT 1, which is what any statement takes. */
async function measureAsOf(clickhouse: ClickHouseClient, url: string, stables: readonly string[]): Promise<void> {
  const [span] = await rows<{ first: number; last: number }>(
    clickhouse,
    'SELECT toUnixTimestamp(min(block_time)) AS first, toUnixTimestamp(max(block_time)) AS last FROM blocks',
  )
  const { first, last } = span as { first: number; last: number }
  const times = { ours: [] as number[], one: [] as number[] }
  for (let i = 0; i < INSTANTS; i++) {
    const stable = stables[i % stables.length] as string
    const asOf = first + Math.floor((i / INSTANTS) * (last - first))
    const work = {
      one: async () => {
        await (await clickhouse.query({ query: 'SELECT 1', format: 'JSONEachRow' })).json()
      },
      ours: async () => {
        const response = await fetch(`${url}/${stable}/peg?as_of=${asOf}`)
        deepStrictEqual([response.status, response.headers.get('cache-status')], [200, 'plumbline; fwd=miss'])
        await response.arrayBuffer()
      },
    }
    for (const who of i % 2 === 0 ? (['one', 'ours'] as const) : (['ours', 'one'] as const))
      times[who].push(await timed(work[who]))
  }
  const [ours, one] = [percentile(times.ours, 0.5), percentile(times.one, 0.5)]
  console.log(
    `as_of, not cached: p50 ${ours.toFixed(2)} ms; SELECT 1 p50 ${one.toFixed(2)} ms: ${(ours / one).toFixed(2)} (target: at most 1.5)`,
  )
}

/** Resident memory at the end of each tenth of the time. */
async function measureMemory(server: { url: string; pid: number }, paths: readonly string[]): Promise<void> {
  const resident: number[] = []
  for (let tenth = 0; tenth < 10; tenth++) {
    const { failed } = await load(server, { paths, seconds: minutes * 6 })
    deepStrictEqual(failed, 0)
    resident.push(statsOf(server.pid).residentMb)
  }
  console.log(`${minutes} minutes of mixed load: ${resident.map((mb) => mb.toFixed(0)).join(', ')} MB resident`)
}
