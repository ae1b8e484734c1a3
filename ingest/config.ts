import { z } from 'zod'
import { clickhouseEnv } from '../clickhouse/store/client.js'
import { envInt, envNumber, envUrl, logLevel } from '../process/environment.js'
import { metricsEnv, metricsPort } from '../process/metrics-access.js'
import { tokenListLocation } from './token-list/location.js'

/** The URLs of one node, or of several, separated by commas. */
const rpcUrls = z
  .string()
  .refine(
    (text) => text.split(',').every((url) => envUrl('http', 'https').safeParse(url).success),
    'must be URLs that start with http:// or https://, separated by commas',
  )

/** What ingest reads from its environment. */
export const IngestConfig = z.object({
  ...clickhouseEnv,
  RPC_URL: rpcUrls,
  RPC_WS_URL: envUrl('ws', 'wss').optional(),
  CHAIN: z.enum(['tempo', 'tempo-testnet', 'devnet'], 'must be tempo, tempo-testnet or devnet').default('tempo'),
  TRACK: z.enum(['all', 'paired', 'listed'], 'must be all, paired or listed').optional(),
  TRACK_HOLDERS: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .optional(),
  TOKEN_LIST: tokenListLocation.optional(),
  RPC_BATCH_SIZE: envInt(1, 1000).default(50),
  RPC_TIMEOUT_MS: envInt(100, 120_000).default(15_000),
  RPC_ATTEMPTS: envInt(1, 100).default(10),
  START_BLOCK: z
    .union(
      [z.enum(['genesis', 'head']), envInt(1, 1_000_000_000_000)],
      'must be genesis, head or a block number from 1',
    )
    .optional(),
  BATCH_BLOCKS: envInt(1, 5000).default(200),
  QUOTES_COMPARED: envNumber(0, 1).default(0.01),
  POLL_INTERVAL_MS: envInt(50, 60_000).default(1000),
  TIP_FLUSH_MS: envInt(0, 60_000).default(0),
  ...metricsEnv,
  INGEST_METRICS_PORT: metricsPort,
  LOG_LEVEL: logLevel,
})
export type IngestConfig = z.infer<typeof IngestConfig>
