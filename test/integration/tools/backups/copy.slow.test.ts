import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { spawnEmbedded } from '../../../../local/engine/spawn.js'
import { stillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'

const run = promisify(execFile)
const BLOCKS = 200

const SCRIPT = fileURLToPath(new URL('../../../../local/engine/copy.sh', import.meta.url))
/** The documented statement that lists the tables to copy. */
const tablesOfDatabase = /```sql\n([\s\S]*?)```/.exec(
  readFileSync(new URL('../../../../local/engine/README.md', import.meta.url), 'utf8'),
)?.[1] as string

test('the documented script copies every fact to another server, and a repeat changes nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plumbline-copy-'))
  const chain = await stillChain({ historyBlocks: BLOCKS })
  const password = 'copy-test'
  const servers = await Promise.all(
    ['from', 'to'].map((name) => spawnEmbedded({ dataDir: join(directory, name), user: 'default', password })),
  )
  const [from, to] = servers.map(({ url }) => ({
    CLICKHOUSE_URL: url,
    CLICKHOUSE_USER: 'default',
    CLICKHOUSE_PASSWORD: password,
    CLICKHOUSE_DATABASE: 'plumbline',
  })) as [Parameters<typeof migrate>[0], Parameters<typeof migrate>[0]]
  const [source, target] = [from, to].map((env) => connect(env, { application: 'plumbline-test' })) as [
    ReturnType<typeof connect>,
    ReturnType<typeof connect>,
  ]
  try {
    await Promise.all([migrate(from), migrate(to)])
    await ingestAll(from, source, chain.rpcUrl, BLOCKS)
    const listed = await source.query({ query: tablesOfDatabase, format: 'TabSeparated' })
    // The rows written by migrations already exist.
    const facts = (await listed.text())
      .trim()
      .split('\n')
      .filter((table) => table !== 'schema_migrations')
      .join(' ')
    for (const name of ['from', 'to']) writeFileSync(join(directory, `${name}.curl`), `user = "default:${password}"`)
    const env = {
      PATH: process.env.PATH,
      FROM: from.CLICKHOUSE_URL,
      TO: to.CLICKHOUSE_URL,
      DATABASE: 'plumbline',
    }
    // A table that is already copied, which the script can only see from its rows.
    for (const tables of ['flows', facts, facts]) {
      const { stdout } = await run('bash', [SCRIPT], { cwd: directory, env: { ...env, TABLES: tables } })
      expect(stdout).toContain('flows ')
      if (tables === facts) expect(await fingerprint(target)).toEqual(await fingerprint(source))
    }
    // Ingest continues on the new server from where it stopped on the old one.
    await ingestAll(to, target, chain.rpcUrl, BLOCKS)
    expect(await fingerprint(target)).toEqual(await fingerprint(source))
  } finally {
    await Promise.all([source.close(), target.close()])
    await Promise.all(servers.map((server) => server.stop()))
    await chain.remove()
    await rm(directory, { recursive: true, force: true })
  }
})
