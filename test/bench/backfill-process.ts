import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { BlockRange } from '../../ingest/chain/block-ranges.js'
import { statsOf } from './process-stats.js'
import { environment } from './segments.js'
import { type Database, rows } from './stack.js'

const PROGRAM = fileURLToPath(new URL('../../ingest/backfill/backfill-main.js', import.meta.url))
const LOOK_MS = 50
/** What V8 prints of a collection of the whole heap: the megabytes in use before and after it. */
const COLLECTED = /Mark-Compact .*?[\d.]+ \([\d.]+\) -> ([\d.]+) /

/**
 * Lets the compiled backfill read a range, from its start as a process to its end, and counts the logs of its blocks.
 * `heapMb` is the most that was in use after a collection of the whole heap; 0 if there was none.
 */
export async function runBackfill(
  database: Database,
  rpcUrl: string,
  { from, to }: BlockRange,
): Promise<{ seconds: number; cpuSeconds: number; peakMb: number; heapMb: number; logs: number }> {
  const began = performance.now()
  const child = spawn(process.execPath, ['--trace-gc', PROGRAM, '--from', `${from}`, '--to', `${to}`], {
    env: { ...process.env, ...environment(database, rpcUrl) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let heapMb = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    heapMb = Math.max(heapMb, Number(COLLECTED.exec(line)?.[1] ?? 0))
  })
  let stats = { cpuSeconds: 0, peakMb: 0 }
  // The kernel keeps count, so only what comes after the last look is missed.
  const look = setInterval(() => {
    try {
      const now = statsOf(child.pid as number)
      if (now.peakMb > 0) stats = now
    } catch {
      // It has ended in between.
    }
  }, LOOK_MS)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearInterval(look)
  if (code !== 0) throw new Error(`backfill ended with ${code}`)
  const seconds = (performance.now() - began) / 1000
  const [found] = await rows<{ blocks: number; logs: number }>(
    database.clickhouse,
    `SELECT toUInt32(count()) AS blocks, toUInt32(sum(log_count)) AS logs FROM blocks WHERE block_number BETWEEN ${from} AND ${to}`,
  )
  if (found?.blocks !== to - from + 1) throw new Error(`${found?.blocks} of ${to - from + 1} blocks are in`)
  return { seconds, logs: found.logs, heapMb, ...stats }
}
