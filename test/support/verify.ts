import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ClickHouseEnv } from '../../clickhouse/store/client.js'
import { localNode } from './local-node.js'

const PROGRAM = fileURLToPath(new URL('../../dist/tools/verify/verify-main.js', import.meta.url))

/** Runs the compiled `npm run verify` on a devnet's node; `output` has both of its streams. */
export async function runVerify(
  env: ClickHouseEnv & { VERIFY_API_KEY?: string },
  rpcUrl: string,
  ...flags: string[]
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...flags], {
    env: { ...process.env, ...env, ...localNode(rpcUrl), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

/** The mismatches in an output, in order. */
export const mismatches = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('mismatch'))
    .map((line) => line.replace(/^mismatch +/, '').replace(/:.*/, ''))
