import { z } from 'zod'
import { ApiConfig } from '../api/config.js'
import { retentionEnv } from '../clickhouse/facts/retention.js'
import { clickhouseEnv } from '../clickhouse/store/client.js'
import { IngestConfig } from '../ingest/config.js'
import { JobsConfig } from '../jobs/config.js'
import { envInt } from '../process/environment.js'
import { DevnetEnv } from './chain/config.js'

/** The variables of all parts, checked together, so that one error names every bad variable before anything starts. */
export const LocalConfig = z.object({
  ...ApiConfig.shape,
  ...IngestConfig.shape,
  ...JobsConfig.shape,
  ...DevnetEnv.shape,
  ...retentionEnv,
  RPC_URL: IngestConfig.shape.RPC_URL.optional(),
  CHAIN: IngestConfig.shape.CHAIN.removeDefault().optional(),
  CLICKHOUSE_URL: clickhouseEnv.CLICKHOUSE_URL.removeDefault().optional(),
  CLICKHOUSE_PASSWORD: clickhouseEnv.CLICKHOUSE_PASSWORD.removeDefault().optional(),
  CLICKHOUSE_DATABASE: clickhouseEnv.CLICKHOUSE_DATABASE.removeDefault().optional(),
  CLICKHOUSE_PORT: envInt(0, 65_535).default(8123),
  CLICKHOUSE_USERS_FILE: z.string().optional(),
  DATA_DIR: z.string().default('./data'),
})
export type LocalConfig = z.infer<typeof LocalConfig>
