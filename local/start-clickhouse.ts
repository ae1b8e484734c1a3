import { join } from 'node:path'
import { z } from 'zod'
import { type Accounts, embeddedAccounts } from './accounts.js'
import { describe, Protection } from './engine/sandbox/sandbox.js'
import { jsonReady, LOOPBACK_PORT, print, type Start, samePort } from './programs.js'

const EngineReady = z.object({ url: z.string(), sandbox: Protection })

/** Starts the embedded engine, unless CLICKHOUSE_URL names a server. Resolves to the address and the accounts to use. */
export async function startClickHouse({
  config,
  dataDir,
  start,
}: Start): Promise<{ CLICKHOUSE_URL: string; accounts: Accounts }> {
  if (config.CLICKHOUSE_URL !== undefined) {
    print(`clickhouse  ${config.CLICKHOUSE_URL} (yours)`)
    const yours = { CLICKHOUSE_USER: config.CLICKHOUSE_USER, CLICKHOUSE_PASSWORD: config.CLICKHOUSE_PASSWORD ?? '' }
    return { CLICKHOUSE_URL: config.CLICKHOUSE_URL, accounts: { owner: yours, writer: yours, reader: yours } }
  }
  const owner = { user: config.CLICKHOUSE_USER, password: config.CLICKHOUSE_PASSWORD }
  const { accounts, usersFile } = await embeddedAccounts(dataDir, owner, config.CLICKHOUSE_USERS_FILE)
  const ready = await start({
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
