import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { ApiConfig } from '../api/config.js'
import { retentionEnv } from '../clickhouse/facts/retention.js'
import { migrate } from '../clickhouse/schema/migrate.js'
import { clickhouseEnv } from '../clickhouse/store/client.js'
import { IngestConfig } from '../ingest/config.js'
import { JobsConfig } from '../jobs/config.js'
import { envInt, parseEnv, SECRET_VARIABLES } from '../process/environment.js'
import { PlumblineError } from '../process/errors.js'
import { runCommand } from '../process/run-process.js'
import { type Accounts, embeddedAccounts } from './accounts.js'
import { PAYER_KEY, payee, payer } from './chain/accounts.js'
import { DevnetEnv } from './chain/config.js'
import { describe, Protection } from './engine/sandbox/sandbox.js'
import { keptSecret } from './kept-secret.js'
import { createPart, type Part, type PartOptions } from './supervisor.js'

/** The variables of all parts, checked together, so that one error names every bad variable before anything starts. */
const Config = z.object({
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

/** The origins of comma-separated URLs. Paths are left out, since they may contain an API key. */
const origins = (urls: string): string =>
  urls
    .split(',')
    .map((url) => new URL(url).origin)
    .join(', ')

/** With the local chain, webhooks may be sent to programs on this machine. */
const LOCAL_RECEIVERS = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128', WEBHOOK_ALLOWED_PORTS: 'any' }

/** Ingest of the local chain: two of its blocks together take half the work, on a machine that also does other things. */
const LOCAL_INGEST = { TIP_FLUSH_MS: '2000' }

/** Random bytes of a generated key. */
const KEY_BYTES = 32

const print = (line: string): void => console.log(line)

class StartError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

const EngineReady = z.object({ url: z.string(), sandbox: Protection })
const ChainReady = z.object({ rpcUrl: z.string(), genesisHash: z.string(), tokenList: z.string() })

/** The parts are given values here, not the files that these came from. */
const withoutFiles = (env: PartOptions['env']): PartOptions['env'] => ({
  ...Object.fromEntries(SECRET_VARIABLES.filter((name) => env[name]).map((name) => [`${name}_FILE`, undefined])),
  ...env,
})

/** The line itself if it is a part's ready line in JSON, otherwise null. */
function jsonReady(line: string): string | null {
  return line.startsWith('{"ready":true') ? line : null
}

/** Makes a restarted part listen on the port that it had before, where the other parts expect it. */
const samePort = (variable: string, address: RegExp) => (announcement: string) => ({
  [variable]: address.exec(announcement)?.[1] ?? '0',
})
const LOOPBACK_PORT = /127\.0\.0\.1:(\d+)/

/** For a ready line that begins with `start`: the rest of it; null for any other line. */
const textReady =
  (start: string) =>
  (line: string): string | null =>
    line.startsWith(start) ? line.slice(start.length) : null

/**
 * The database of a local chain. Each chain has its own, so that a new chain never mixes with the facts of a lost one.
 */
async function devnetDatabase(dataDir: string, genesisHash: string): Promise<string> {
  const database = `devnet_${genesisHash.slice(2, 10)}`
  const file = join(dataDir, 'devnet.database')
  const before = existsSync(file) ? (await readFile(file, 'utf8')).trim() : null
  if (before !== null && before !== database) {
    print(
      `the local chain of database ${before} is LOST: starting a new chain with a new database; ${before} is kept unchanged`,
    )
  }
  await writeFile(file, database)
  return database
}

await runCommand('plumbline', async () => {
  const config = parseEnv(Config, process.env)
  const dataDir = resolve(config.DATA_DIR)
  const logDir = join(dataDir, 'logs')
  try {
    await mkdir(logDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StartError(`DATA_DIR: cannot use ${dataDir}: ${error instanceof Error ? error.message : error}`)
  }

  const parts: Part[] = []
  let finish: (error: Error | null) => void = () => {}
  const finished = new Promise<Error | null>((resolve) => {
    finish = resolve
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      print('stopping …')
      finish(null)
    })
  }

  type Program = Pick<PartOptions, 'name' | 'ready' | 'ownsTerminal' | 'envWhenRestarted'> & {
    entry: string
    args?: string[]
    env: PartOptions['env']
  }
  const startPart = ({ entry, args = [], ...options }: Program): Promise<string> => {
    const program = [fileURLToPath(new URL(entry, import.meta.url)), ...args]
    const part = createPart({ ...options, env: withoutFiles(options.env), program, logDir, print, onLost: finish })
    parts.unshift(part)
    return part.start()
  }

  const startClickHouse = async (): Promise<{ CLICKHOUSE_URL: string; accounts: Accounts }> => {
    if (config.CLICKHOUSE_URL !== undefined) {
      print(`clickhouse  ${config.CLICKHOUSE_URL} (yours)`)
      const yours = { CLICKHOUSE_USER: config.CLICKHOUSE_USER, CLICKHOUSE_PASSWORD: config.CLICKHOUSE_PASSWORD ?? '' }
      return { CLICKHOUSE_URL: config.CLICKHOUSE_URL, accounts: { owner: yours, writer: yours, reader: yours } }
    }
    const owner = { user: config.CLICKHOUSE_USER, password: config.CLICKHOUSE_PASSWORD }
    const { accounts, usersFile } = await embeddedAccounts(dataDir, owner, config.CLICKHOUSE_USERS_FILE)
    const ready = await startPart({
      name: 'clickhouse',
      entry: './engine/main.js',
      args: ['--data', join(dataDir, 'clickhouse'), '--users', usersFile],
      env: { ...accounts.owner, CLICKHOUSE_PORT: `${config.CLICKHOUSE_PORT}` },
      envWhenRestarted: samePort('CLICKHOUSE_PORT', LOOPBACK_PORT),
      ready: jsonReady,
    })
    const { url, sandbox } = EngineReady.parse(JSON.parse(ready))
    print(`clickhouse  ${url} (embedded; password in ${join(config.DATA_DIR, 'clickhouse.password')})`)
    print(`sandbox     ${describe(sandbox)}`)
    return { CLICKHOUSE_URL: url, accounts }
  }

  const startChain = async (): Promise<{
    RPC_URL: string
    RPC_WS_URL: string | undefined
    CHAIN: string
    TOKEN_LIST?: string
    database: string
  }> => {
    if (config.RPC_URL !== undefined) {
      const CHAIN = config.CHAIN ?? 'tempo'
      print(`chain       ${CHAIN} at ${origins(config.RPC_URL)} (yours)`)
      return { RPC_URL: config.RPC_URL, RPC_WS_URL: config.RPC_WS_URL, CHAIN, database: 'plumbline' }
    }
    if (config.CHAIN !== undefined && config.CHAIN !== 'devnet')
      throw new StartError(`CHAIN=${config.CHAIN} needs RPC_URL, the address of a node`)
    const ownsTerminal = process.stderr.isTTY
    const ready = await startPart({
      name: 'devnet',
      entry: './chain/main.js',
      env: { DATA_DIR: dataDir, LOG_LEVEL: ownsTerminal ? 'warn' : config.LOG_LEVEL, CLICKHOUSE_PASSWORD: undefined },
      envWhenRestarted: samePort('DEVNET_PORT', LOOPBACK_PORT),
      ready: jsonReady,
      ownsTerminal,
    })
    const { rpcUrl, genesisHash, tokenList } = ChainReady.parse(JSON.parse(ready))
    const database = await devnetDatabase(dataDir, genesisHash)
    print(`chain       devnet at ${rpcUrl} (local, simulated market)`)
    print(`payer       ${payer.address} (funded, and used by nothing but you)`)
    print(`            key ${PAYER_KEY} (public: worth nothing outside the local chain)`)
    const node = { RPC_URL: rpcUrl, RPC_WS_URL: rpcUrl.replace('http', 'ws'), CHAIN: 'devnet', database }
    return config.TOKEN_LIST === undefined ? { ...node, TOKEN_LIST: tokenList } : node
  }

  /** Without ADMIN_API_KEY, the first start generates a key and saves it. */
  const adminKey = async (): Promise<Record<string, string>> => {
    if (config.ADMIN_API_KEY !== undefined) return {}
    const { secret, isNew } = await keptSecret(join(dataDir, 'admin.key'), KEY_BYTES, 'ak_')
    const file = join(config.DATA_DIR, 'admin.key')
    print(`admin key   ${isNew ? `${secret} (shown only once; saved in ${file})` : `in ${file}`}`)
    return { ADMIN_API_KEY: secret }
  }

  /** The API encrypts secrets with this key and jobs decrypts them, so both get the same one. */
  const secretsKey = async (): Promise<Record<string, string>> =>
    config.SECRETS_KEY === undefined
      ? { SECRETS_KEY: (await keptSecret(join(dataDir, 'secrets.key'), KEY_BYTES)).secret }
      : {}

  /** Payments are made on the chain that ingest reads; on the local chain they go to one of its accounts. */
  const paymentEnv = (chain: { RPC_URL: string }): Record<string, string | undefined> => ({
    PAYMENT_RPC_URL: config.PAYMENT_RPC_URL ?? chain.RPC_URL.split(',', 1)[0],
    PAYMENT_RECIPIENT: config.PAYMENT_RECIPIENT ?? (config.RPC_URL === undefined ? payee : undefined),
  })

  /** Defaults that hold with the local chain only. */
  const locally = (defaults: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(config.RPC_URL === undefined ? defaults : {}).map(([name, value]) => [
        name,
        process.env[name] || value,
      ]),
    )
  const receivers = locally(LOCAL_RECEIVERS)

  const startParts = async (): Promise<void> => {
    const [{ CLICKHOUSE_URL, accounts }, { database, ...chain }] = await Promise.all([startClickHouse(), startChain()])
    const store = { CLICKHOUSE_URL, CLICKHOUSE_DATABASE: config.CLICKHOUSE_DATABASE ?? database }
    const { RETAIN_FEES_PAID_DAYS, COLD_AFTER_DAYS } = config
    const applied = await migrate({ ...store, ...accounts.owner, RETAIN_FEES_PAID_DAYS, COLD_AFTER_DAYS })
    print(
      `schema      ${applied.length === 0 ? 'up to date' : `${applied.length} migrations applied`} in database ${store.CLICKHOUSE_DATABASE}`,
    )
    print(
      `redis       ${config.REDIS_URL === undefined ? 'not used: state is kept in memory, which suits a single API process' : 'yours'}`,
    )
    print(
      `ingest      ${await startPart({ name: 'ingest', entry: '../ingest/main.js', env: { ...store, ...accounts.writer, ...chain, ...locally(LOCAL_INGEST) }, ready: textReady('ingest ') })}`,
    )
    const secrets = await secretsKey()
    print(
      `jobs        ${await startPart({ name: 'jobs', entry: '../jobs/main.js', env: { ...store, ...accounts.writer, ...receivers, ...secrets }, ready: textReady('jobs ') })}`,
    )
    const adminKeyEnv = await adminKey()
    const api = await startPart({
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
        ...paymentEnv(chain),
      },
      ready: textReady('api ready at '),
      envWhenRestarted: samePort('PORT', /:(\d+)\//),
    })
    print(`api         ready`)
    print('')
    print(`open ${new URL('/', api)}`)
  }

  startParts().catch((error: unknown) => finish(error instanceof Error ? error : new Error(String(error))))
  const error = await finished
  // In reverse order of start: first the parts that use ClickHouse and the node, then these.
  for (const part of parts) await part.stop()
  if (error) throw error
})
