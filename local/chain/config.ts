import { resolve } from 'node:path'
import { z } from 'zod'
import { envInt, envNumber, logLevel, parseEnv } from '../../process/environment.js'
import { FIRST_TRADING_BLOCK } from './clock.js'
import { MAX_STABLES, MIN_STABLES } from './stables.js'

const whole = (min: number, max: number, fallback: number) => envInt(min, max).default(fallback)

/** The environment variables of the devnet. */
export const DevnetEnv = z.object({
  DATA_DIR: z.string().min(1).default('./data'),
  DEVNET_PORT: whole(0, 65_535, 8545),
  DEVNET_SEED: whole(0, 2 ** 31 - 1, 1),
  DEVNET_STABLES: whole(MIN_STABLES, MAX_STABLES, 10),
  DEVNET_HISTORY_HOURS: envNumber(0, 720).default(24),
  DEVNET_HISTORY_BLOCK_SECONDS: whole(1, 3600, 60),
  DEVNET_LIVE: z.enum(['on', 'off']).default('on'),
  DEVNET_BLOCK_SECONDS: whole(1, 3600, 1),
  DEVNET_CHECKPOINT_BLOCKS: whole(2, 100_000, 600),
  LOG_LEVEL: logLevel,
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

/** Reads the devnet's configuration. Throws one ConfigError that names every bad variable. */
export function parseConfig(env: NodeJS.ProcessEnv): DevnetConfig {
  return parseEnv(Environment, env)
}
