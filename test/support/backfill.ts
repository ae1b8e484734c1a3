import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { type IngestProcess, processOf } from './ingest.js'

const PROGRAM = fileURLToPath(new URL('../../dist/ingest/backfill/backfill-main.js', import.meta.url))

/** The compiled backfill as a process of its own, on a devnet's node, with these flags. */
export function startBackfill(
  clickhouse: ClickHouseEnv,
  rpcUrl: string,
  flags: string[] = [],
  env: Record<string, string> = {},
): IngestProcess {
  return processOf(
    spawn(process.execPath, [PROGRAM, ...flags], {
      env: { ...process.env, ...clickhouse, RPC_URL: rpcUrl, CHAIN: 'devnet', BATCH_BLOCKS: '20', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
}

/** Lets a backfill run to its end, which must be a good one; resolves to what it wrote. */
export async function backfillAll(...args: Parameters<typeof startBackfill>): Promise<string> {
  const backfill = startBackfill(...args)
  const { code, signal } = await backfill.exited
  if (code !== 0) throw new Error(`backfill ended with ${code ?? signal}: ${backfill.output()}`)
  return backfill.output()
}
