import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { SandboxRequest } from '../../../sandbox/sandbox.js'
import { httpTo, start, withDirectory } from '../engine.js'

const run = promisify(execFile)
const confine = fileURLToPath(new URL('../../../dist/sandbox/confine-main.js', import.meta.url))
const probe = fileURLToPath(new URL('./probe.mjs', import.meta.url))

/** What a process can do with the sandbox and without. */
async function outcomes(directory: string, isConfined: boolean): Promise<Record<string, string>> {
  const [inside, outside] = [join(directory, 'inside'), join(directory, 'outside')]
  for (const path of [inside, outside]) await mkdir(path)
  await writeFile(join(outside, 'canary'), 'untouched')
  const servers = [createServer().listen(0, '127.0.0.1'), createServer().listen(join(outside, 'socket'))] as const
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const { port } = servers[0].address() as { port: number }
  const request: SandboxRequest = {
    files: [
      [dirname(probe), 'read'],
      [inside, 'write'],
    ],
    required: true,
  }
  const program = [probe, JSON.stringify({ inside, outside, port, socket: join(outside, 'socket') })]
  const env = { OPENSSL_CONF: '/dev/null' }
  const args = isConfined ? [confine, JSON.stringify(request), ...program] : program
  const { stdout } = await run(process.execPath, args, { env })
  for (const server of servers) server.close()
  expect(await readFile(join(outside, 'canary'), 'utf8')).toBe(isConfined ? 'untouched' : 'written')
  return JSON.parse(stdout)
}

test('a process in the sandbox writes its own folder, and reaches no other file, process or address', async () => {
  await withDirectory(async (directory) => {
    const { 'write and rename a file inside': own, ...others } = await outcomes(directory, true)
    expect(own).toBe('done')
    for (const [what, outcome] of Object.entries(others)) expect(outcome, what).toMatch(/^(EACCES|EPERM)$/)
    expect(Object.keys(others)).toHaveLength(10)
  })
})

test('without the sandbox the same process reaches all of it', async () => {
  await withDirectory(async (directory) => {
    for (const [what, outcome] of Object.entries(await outcomes(directory, false))) expect(outcome, what).toBe('done')
  })
})

/** Restores a backup through a link that leads out of the backup directory, as its owner. */
async function restoreThroughLink(directory: string, CLICKHOUSE_SANDBOX: string): Promise<string> {
  const data = join(directory, 'data')
  const engine = await start(data, { env: { CLICKHOUSE_SANDBOX } })
  try {
    const http = httpTo(engine.url)
    for (const query of ['CREATE DATABASE d', 'CREATE TABLE d.t (a UInt8) ENGINE = MergeTree ORDER BY a'])
      expect(await http(query)).toMatchObject({ status: 200 })
    expect(await http("BACKUP DATABASE d TO File('there')")).toMatchObject({ status: 200 })
    await cp(join(data, 'backups', 'there'), join(directory, 'away'), { recursive: true })
    await rename(join(data, 'backups', 'there'), join(data, 'backups', 'here'))
    await symlink(join(directory, 'away'), join(data, 'backups', 'there'))
    expect(await http("RESTORE DATABASE d AS own FROM File('here')")).toMatchObject({ status: 200 })
    return (await http("RESTORE DATABASE d AS other FROM File('there')")).text
  } finally {
    await engine.stop()
  }
}

test('the engine itself runs in the sandbox unless it is switched off, and says which', async () => {
  await withDirectory(async (directory) => {
    expect(await restoreThroughLink(directory, 'required')).toMatch(/Permission denied/)
  })
  await withDirectory(async (directory) => {
    expect(await restoreThroughLink(directory, 'off')).not.toMatch(/Code:/)
  })
})
