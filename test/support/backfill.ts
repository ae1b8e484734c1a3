import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { type IngestProcess, processOf } from './ingest.js'
import { localNode } from './local-node.js'

const PROGRAM = fileURLToPath(new URL('../../dist/ingest/backfill/backfill-main.js', import.meta.url))

/** Starts the compiled backfill as a separate process with these flags, on a devnet's node. */
export function startBackfill(
  clickhouse: ClickHouseEnv,
  rpcUrl: string,
  flags: string[] = [],
  env: Record<string, string> = {},
): IngestProcess {
  return processOf(
    spawn(process.execPath, [PROGRAM, ...flags], {
      env: { ...process.env, ...clickhouse, ...localNode(rpcUrl), BATCH_BLOCKS: '20', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
}

/** Runs a backfill to its end. Rejects if it fails; resolves to its output. */
export async function backfillAll(...args: Parameters<typeof startBackfill>): Promise<string> {
  const backfill = startBackfill(...args)
  const { code, signal } = await backfill.exited
  if (code !== 0) throw new Error(`backfill ended with ${code ?? signal}: ${backfill.output()}`)
  return backfill.output()
}
