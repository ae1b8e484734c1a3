import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

/** The output of a compiled program that ends by itself, and its exit code. */
async function endOf(program: string, env: Record<string, string>) {
  const path = new URL(`../../../dist/${program}.js`, import.meta.url).pathname
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  return { code, last: output.trimEnd().split('\n').at(-1) }
}

// What `docker compose logs` shows of a container that restarts for ever.
test.for([
  ['ingest/main', 'ingest', 78],
  ['jobs/main', 'jobs', 78],
  ['api/server', 'api', 78],
  ['clickhouse/schema/migrate-main', 'migrate', 1],
  ['ingest/backfill/backfill-main', 'backfill', 78],
  ['tools/verify/verify-main', 'verify', 78],
  ['tools/backups/backup-main', 'backup', 78],
  ['tools/size/size-main', 'size', 78],
] as const)('with a bad configuration the last line of %s names every variable and what to do', async (of) => {
  const [program, name, code] = of
  const end = await endOf(program, { CLICKHOUSE_URL: 'nowhere', CLICKHOUSE_PASSWORD_FILE: '/nowhere' })
  expect(end.code).toBe(code)
  for (const part of [
    `${name} stops: bad configuration: `,
    'CLICKHOUSE_PASSWORD_FILE: the file cannot be read (ENOENT)',
    'CLICKHOUSE_URL: must be a URL that starts with http:// or https://',
    `(exit code ${code}: correct this first: a restart alone does not help)`,
  ])
    expect(end.last).toContain(part)
})

test('without ClickHouse the last line of migrate says so, and that a restart may help', async () => {
  const { code, last } = await endOf('clickhouse/schema/migrate-main', {
    CLICKHOUSE_URL: 'http://127.0.0.1:1',
  })
  expect(code).toBe(1)
  expect(last).toMatch(/^migrate stops: .*ECONNREFUSED.* \(exit code 1: a restart may help\)$/)
})
