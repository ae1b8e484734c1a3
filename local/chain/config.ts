import { resolve } from 'node:path'
import { z } from 'zod'
import { FIRST_TRADING_BLOCK } from './clock.js'
import { DevnetError } from './errors.js'
import { MAX_STABLES, MIN_STABLES } from './stables.js'

const number = (form: RegExp, kind: string, min: number, max: number) => {
  const rule = `must be a ${kind} from ${min} to ${max}`
  return z
    .string()
    .regex(form, rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule)
}

const whole = (min: number, max: number, fallback: number) =>
  number(/^\d{1,15}$/, 'whole number', min, max).default(fallback)

/** The environment variables of the devnet. */
export const DevnetEnv = z.object({
  DATA_DIR: z.string().min(1).default('./data'),
  DEVNET_PORT: whole(0, 65_535, 8545),
  DEVNET_SEED: whole(0, 2 ** 31 - 1, 1),
  DEVNET_STABLES: whole(MIN_STABLES, MAX_STABLES, 10),
  DEVNET_HISTORY_HOURS: number(/^\d+(\.\d+)?$/, 'number', 0, 720).default(24),
  DEVNET_HISTORY_BLOCK_SECONDS: whole(1, 3600, 60),
  DEVNET_LIVE: z.enum(['on', 'off']).default('on'),
  DEVNET_BLOCK_SECONDS: whole(1, 3600, 1),
  DEVNET_CHECKPOINT_BLOCKS: whole(2, 100_000, 600),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .default('info'),
})

const Environment = DevnetEnv.transform((env) => ({
  chainDir: resolve(env.DATA_DIR, 'chain'),
  port: env.DEVNET_PORT,
  plan: {
    seed: env.DEVNET_SEED,
    stables: env.DEVNET_STABLES,
    // The setup of the market needs blocks even without a history.
    blocks: Math.max(
      FIRST_TRADING_BLOCK,
      Math.round((env.DEVNET_HISTORY_HOURS * 3600) / env.DEVNET_HISTORY_BLOCK_SECONDS),
    ),
    blockSeconds: env.DEVNET_HISTORY_BLOCK_SECONDS,
    liveBlockSeconds: env.DEVNET_BLOCK_SECONDS,
  },
  checkpointBlocks: env.DEVNET_CHECKPOINT_BLOCKS,
  live: env.DEVNET_LIVE === 'on',
  logLevel: env.LOG_LEVEL,
}))

export type DevnetConfig = z.infer<typeof Environment>

/** Reads the devnet's configuration; an empty value counts as unset. Throws one DevnetError that names every bad variable. */
export function parseConfig(env: NodeJS.ProcessEnv): DevnetConfig {
  const { data, error } = Environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value)))
  if (data) return data
  const problems = error.issues.map(({ path, message }) => `\n  ${path.join('.')}: ${message}`)
  throw new DevnetError(`bad configuration:${problems.join('')}`, { retryable: false })
}
