import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BlockRange } from '../ingest/stages/block-ranges.js'

const PROGRAM = fileURLToPath(new URL('../ingest/backfill-main.js', import.meta.url))
const LOOK_MS = 50

/** Lets the compiled backfill read a range, from its start as a process to its end; `peakMb` is the most it was resident. */
export async function runBackfill(
  env: Record<string, string>,
  { from, to }: BlockRange,
): Promise<{ seconds: number; peakMb: number }> {
  const began = performance.now()
  const child = spawn(process.execPath, [PROGRAM, '--from', `${from}`, '--to', `${to}`], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peakKb = 0
  // The kernel keeps the highest mark, so only what comes after the last look is missed.
  const look = setInterval(() => {
    try {
      peakKb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? peakKb)
    } catch {
      // It has ended in between.
    }
  }, LOOK_MS)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearInterval(look)
  if (code !== 0) throw new Error(`backfill ended with ${code}`)
  return { seconds: (performance.now() - began) / 1000, peakMb: peakKb / 1024 }
}
