import { z } from 'zod'
import { clickhouseEnv } from '../../clickhouse/store/client.js'
import { readFlags } from '../../process/command-line.js'
import { envInt, envNumber, envUrl, parseEnv } from '../../process/environment.js'
import { metricsAccess } from '../../process/metrics-access.js'

export const HELP = `npm run size -- [--tx-per-second N] [--stables N] [--block-time S] [--retain DAYS] [--days N] [--replicas N]
                    [--requests-per-second N] [--minutes N] [--metrics URL,URL] [--json]

Shows what this database grows by, and what it and its processes will need. Only reads. What you do not set stays as measured.

  --tx-per-second N        transactions a second, of the whole chain
  --stables N              sampled stables
  --block-time S           seconds from block to block
  --retain DAYS            RETAIN_FEES_PAID_DAYS (everything is kept)
  --days N                 how far ahead to look (365)
  --replicas N             ClickHouse servers with all rows (1)
  --requests-per-second N  requests that the API answers
  --minutes N              counts the newest N minutes of the chain (the newer half of what is stored, a day at most)
  --metrics URL,URL        where ingest, the jobs and the API serve /metrics; with a token, set METRICS as they have it
  --json                   prints JSON
`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const OPTIONS = {
  'tx-per-second': text,
  stables: text,
  'block-time': text,
  retain: text,
  days: text,
  replicas: text,
  'requests-per-second': text,
  minutes: text,
  metrics: text,
  json: flag,
  help: flag,
}

const urls = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(envUrl('http', 'https')))

const Settings = z.object({
  ...clickhouseEnv,
  METRICS: metricsAccess.default('loopback'),
  '--tx-per-second': envNumber(0, 1_000_000).optional(),
  '--stables': envInt(1, 100_000).optional(),
  '--block-time': envNumber(0.01, 86_400).optional(),
  '--retain': envInt(7, 36_500).optional(),
  '--days': envInt(1, 36_500).default(365),
  '--replicas': envInt(1, 100).default(1),
  '--requests-per-second': envNumber(0, 1_000_000).optional(),
  '--minutes': envInt(1, 1_000_000).optional(),
  '--metrics': urls.default([]),
})

/** The command line and the environment. Throws ConfigError naming every bad flag and variable; null if help is wanted. */
export function parseRequest(args: string[], env: Record<string, string | undefined>) {
  const { json = false, help = false, ...values } = readFlags(OPTIONS, args)
  if (help) return null
  const flags = Object.fromEntries(Object.entries(values).map(([name, value]) => [`--${name}`, value]))
  return { settings: parseEnv(Settings, { ...env, ...flags }), json }
}
