import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { newestBatch } from '../../clickhouse/chain/batches.js'
import { blockAt, newestBlock } from '../../clickhouse/chain/blocks.js'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { IngestConfig } from '../../ingest/config.js'
import { ingest } from '../../ingest/follow/run.js'
import { openLedger } from '../../ingest/sinks/batch-ledger.js'
import { parseEnv } from '../../process/environment.js'
import { localNode } from './local-node.js'

const PROGRAM = fileURLToPath(new URL('../../dist/ingest/main.js', import.meta.url))

export type IngestProcess = {
  child: ChildProcess
  /** Its whole output, on both streams. */
  output: () => string
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  kill: (signal: NodeJS.Signals) => Promise<void>
}

const ingestEnv = (rpcUrl: string) => ({ ...localNode(rpcUrl), POLL_INTERVAL_MS: '100' })

/** Starts the compiled ingest as a separate process, on a devnet's node. */
export function startIngest(
  clickhouse: ClickHouseEnv,
  rpcUrl: string,
  env: Record<string, string> = {},
): IngestProcess {
  return processOf(
    spawn(process.execPath, [PROGRAM], {
      env: { ...process.env, ...clickhouse, ...ingestEnv(rpcUrl), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  )
}

/** A process that a test has started, with its output. */
export function processOf(child: ChildProcess): IngestProcess {
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  const exited: IngestProcess['exited'] = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  return {
    child,
    output: () => output,
    exited,
    kill: async (signal) => {
      child.kill(signal)
      await exited
    },
  }
}

async function ingested(what: string, isIn: () => Promise<boolean>, running: IngestProcess, seconds: number) {
  for (const until = Date.now() + seconds * 1000; Date.now() < until; await sleep(200)) {
    if (await isIn().catch(() => false)) return
    if (running.child.exitCode !== null)
      throw new Error(`ingest ended with ${running.child.exitCode}: ${running.output()}`)
  }
  throw new Error(`${what} was not ingested in ${seconds} s: ${running.output()}`)
}

/** Waits until the facts of block `number` are stored; fails after `seconds` or if ingest ends. */
export const ingestedTo = (
  clickhouse: ClickHouseClient,
  number: number,
  ingest: IngestProcess,
  seconds = 240,
): Promise<void> =>
  ingested(
    `block ${number}`,
    async () => ((await newestBlock(clickhouse))?.block_number ?? 0) >= number,
    ingest,
    seconds,
  )

/** Waits until the facts of exactly this block are stored and its batch is committed. */
export const ingestedHead = (
  clickhouse: ClickHouseClient,
  { number, hash }: { number: number; hash: string },
  ingest: IngestProcess,
  seconds = 240,
): Promise<void> =>
  ingested(
    `block ${number} ${hash}`,
    async () => {
      const block = await blockAt(clickhouse, number)
      return block?.block_hash === hash && (await openLedger(clickhouse, 'tip', 1)).last?.hash === hash
    },
    ingest,
    seconds,
  )

/**
 * Takes in the whole of a chain that stands still, and ends ingest. In this process, which is a second faster than to
 * start the compiled one: for tests of what is in, not of how ingest starts, stops and fails.
 */
export async function ingestAll(
  env: ClickHouseEnv,
  clickhouse: ClickHouseClient,
  rpcUrl: string,
  head: number,
  settings: Record<string, string> = {},
): Promise<void> {
  const config = parseEnv(IngestConfig, { ...env, ...ingestEnv(rpcUrl), ...settings })
  const stop = new AbortController()
  const { signal } = stop
  // Where all of it is in already, nothing is written, and so nothing is said of it.
  const isIn = async () =>
    ((await newestBlock(clickhouse))?.block_number ?? 0) >= head &&
    (await newestBatch(clickhouse, { track: 'tip' }))?.committed === true
  const watched = (async () => {
    while (!signal.aborted && !(await isIn().catch(() => false))) await sleep(100)
    stop.abort()
  })()
  try {
    for await (const { block } of ingest({ clickhouse, config, log: pino({ level: 'silent' }), signal }))
      if (block >= head) stop.abort()
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    stop.abort()
    await watched
  }
}
