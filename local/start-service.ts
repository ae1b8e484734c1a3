import { join } from 'node:path'
import { migrate } from '../clickhouse/schema/migrate.js'
import type { Accounts } from './accounts.js'
import { payee } from './chain/accounts.js'
import type { LocalConfig } from './config.js'
import { keptSecret } from './kept-secret.js'
import { print, type Start, samePort, textReady } from './programs.js'
import type { Chain } from './start-chain.js'

/** With the local chain, webhooks may be sent to programs on this machine. */
const LOCAL_RECEIVERS = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128', WEBHOOK_ALLOWED_PORTS: 'any' }

/** Ingest of the local chain: two of its blocks together take half the work, on a machine that also does other things. */
const LOCAL_INGEST = { TIP_FLUSH_MS: '2000' }

/** Random bytes of a generated key. */
const KEY_BYTES = 32

/** Without ADMIN_API_KEY, the first start generates a key and saves it. */
async function adminKey({ config, dataDir }: Start): Promise<Record<string, string>> {
  if (config.ADMIN_API_KEY !== undefined) return {}
  const { secret, isNew } = await keptSecret(join(dataDir, 'admin.key'), KEY_BYTES, 'ak_')
  const file = join(config.DATA_DIR, 'admin.key')
  print(`admin key   ${isNew ? `${secret} (shown only once; saved in ${file})` : `in ${file}`}`)
  return { ADMIN_API_KEY: secret }
}

/** The API encrypts secrets with this key and jobs decrypts them, so both get the same one. */
async function secretsKey({ config, dataDir }: Start): Promise<Record<string, string>> {
  if (config.SECRETS_KEY !== undefined) return {}
  return { SECRETS_KEY: (await keptSecret(join(dataDir, 'secrets.key'), KEY_BYTES)).secret }
}

/** Payments are made on the chain that ingest reads; on the local chain they go to one of its accounts. */
const paymentEnv = (config: LocalConfig, chain: { RPC_URL: string }): Record<string, string | undefined> => ({
  PAYMENT_RPC_URL: config.PAYMENT_RPC_URL ?? chain.RPC_URL.split(',', 1)[0],
  PAYMENT_RECIPIENT: config.PAYMENT_RECIPIENT ?? (config.RPC_URL === undefined ? payee : undefined),
})

/** Defaults that hold with the local chain only. */
const locally = ({ RPC_URL }: LocalConfig, defaults: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(RPC_URL === undefined ? defaults : {}).map(([name, value]) => [name, process.env[name] || value]),
  )

/** Brings the schema up to date, then starts ingest, jobs and the API. Resolves to the URL of the API. */
export async function startService(
  context: Start,
  { CLICKHOUSE_URL, accounts }: { CLICKHOUSE_URL: string; accounts: Accounts },
  { database, ...chain }: Chain,
): Promise<string> {
  const { config, start } = context
  const store = { CLICKHOUSE_URL, CLICKHOUSE_DATABASE: config.CLICKHOUSE_DATABASE ?? database }
  const receivers = locally(config, LOCAL_RECEIVERS)
  const { RETAIN_FEES_PAID_DAYS, COLD_AFTER_DAYS } = config
  const applied = await migrate({ ...store, ...accounts.owner, RETAIN_FEES_PAID_DAYS, COLD_AFTER_DAYS })
  const schema = applied.length === 0 ? 'up to date' : `${applied.length} migrations applied`
  print(`schema      ${schema} in database ${store.CLICKHOUSE_DATABASE}`)
  const isRedisUsed = config.REDIS_URL !== undefined
  print(`redis       ${isRedisUsed ? 'yours' : 'not used: state is kept in memory, which suits a single API process'}`)
  const ingest = await start({
    name: 'ingest',
    entry: '../ingest/main.js',
    env: { ...store, ...accounts.writer, ...chain, ...locally(config, LOCAL_INGEST) },
    ready: textReady('ingest '),
  })
  print(`ingest      ${ingest}`)
  const secrets = await secretsKey(context)
  const jobs = await start({
    name: 'jobs',
    entry: '../jobs/main.js',
    env: { ...store, ...accounts.writer, ...receivers, ...secrets },
    ready: textReady('jobs '),
  })
  print(`jobs        ${jobs}`)
  const adminKeyEnv = await adminKey(context)
  const url = await start({
    name: 'api',
    entry: '../api/server.js',
    env: {
      ...store,
      ...accounts.reader,
      CLICKHOUSE_RECORDS_USER: accounts.writer.CLICKHOUSE_USER,
      CLICKHOUSE_RECORDS_PASSWORD: accounts.writer.CLICKHOUSE_PASSWORD,
      ...adminKeyEnv,
      ...secrets,
      ...receivers,
      ...paymentEnv(config, chain),
    },
    ready: textReady('api ready at '),
    envWhenRestarted: samePort('PORT', /:(\d+)\//),
  })
  print(`api         ready`)
  return url
}
