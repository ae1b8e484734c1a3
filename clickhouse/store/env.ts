import { z } from 'zod'
import { envUrl } from '../../process/environment.js'

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be an identifier: letters, digits and underscores')

/** The variables of every process that talks to ClickHouse, to be spread into its own schema. */
export const clickhouseEnv = {
  CLICKHOUSE_URL: envUrl('http', 'https').default('http://127.0.0.1:8123'),
  CLICKHOUSE_USER: z.string().default('default'),
  CLICKHOUSE_PASSWORD: z.string().default(''),
  CLICKHOUSE_DATABASE: name.default('plumbline'),
}

/** What those variables parse to. */
export type ClickHouseEnv = {
  CLICKHOUSE_URL: string
  CLICKHOUSE_USER: string
  CLICKHOUSE_PASSWORD: string
  CLICKHOUSE_DATABASE: string
}
