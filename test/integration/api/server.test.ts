import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createRelay, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import type { ClickHouseEnv } from '../../../clickhouse/env.js'
import { test } from '../../fixtures/services.js'

const PROGRAM = fileURLToPath(new URL('../../../dist/api/server.js', import.meta.url))

type Server = { child: ChildProcess; stdout: string[]; stderr: string[]; ended: Promise<number | null> }

/** The compiled API as a process of its own, killed at the end of the test. */
function start(env: Record<string, string>): Server {
  if (!existsSync(PROGRAM)) throw new Error('run npm run build before this test')
  const child = spawn(process.execPath, [PROGRAM], { env: { ...env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const server: Server = {
    child,
    stdout: [],
    stderr: [],
    // Not `close` of the child, which never comes once its channel has been closed from this side.
    ended: Promise.all([
      once(child, 'exit'),
      once(child.stdout as NodeJS.ReadableStream, 'close'),
      once(child.stderr as NodeJS.ReadableStream, 'close'),
    ]).then(([[code]]) => code as number | null),
  }
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => server.stdout.push(line))
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => server.stderr.push(line))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await server.ended
  })
  return server
}

async function ready(env: ClickHouseEnv): Promise<Server & { url: string }> {
  const server = start({ ...env, PORT: '0' })
  await expect
    .poll(() => server.stdout[0], { timeout: 20_000 })
    .toMatch(/^api ready at http:\/\/127\.0\.0\.1:\d+\/api\/v1\/stablecoins$/)
  return { ...server, url: (server.stdout[0] as string).slice('api ready at '.length) }
}

test('it says where it is once it answers there', async ({ clickhouseEnv }) => {
  const { url } = await ready(clickhouseEnv)
  expect(await (await fetch(url)).json()).toEqual({ stablecoins: [] })
})

test.for(['SIGTERM', 'SIGINT'] as const)(
  '%s ends it with code 0, and no request is cut off',
  async (signal, { clickhouseEnv }) => {
    const { child, url, ended, stderr } = await ready(clickhouseEnv)
    // Kept open by the client, which must not hold up the end.
    await (await fetch(url)).json()
    const last = fetch(url).then((response) => response.status)
    setTimeout(() => child.kill(signal), 5)
    expect(await last).toBe(200)
    expect(await ended).toBe(0)
    expect(stderr.filter((line) => !line.startsWith('{'))).toEqual([])
  },
)

test('it ends when the process that started it is gone', async ({ clickhouseEnv }) => {
  const { child, ended } = await ready(clickhouseEnv)
  child.disconnect()
  expect(await ended).toBe(0)
})

describe('what keeps it from starting is one line', () => {
  test('a port in use, code 1', async ({ clickhouseEnv }) => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { ended, stderr, stdout } = start({ ...clickhouseEnv, PORT: String(port) })
    expect(await ended).toBe(1)
    expect(stderr).toEqual([`api stops: PORT: port ${port} is in use`])
    expect(stdout).toEqual([])
    other.close()
  })

  test('an address of another machine, code 1', async ({ clickhouseEnv }) => {
    const { ended, stderr } = start({ ...clickhouseEnv, PORT: '0', HOST: '192.0.2.1' })
    expect(await ended).toBe(1)
    expect(stderr).toEqual(['api stops: HOST: 192.0.2.1 is no address of this machine'])
  })

  test('bad variables, all of them, with the code that says not to try again', async () => {
    const { ended, stderr } = start({ PORT: 'http', LOG_LEVEL: 'loud' })
    expect(await ended).toBe(78)
    expect(stderr.join('\n')).toMatch(/PORT: .*\n.*LOG_LEVEL: /)
    expect(stderr.join('\n')).not.toContain('    at ')
  })
})

test('it starts without ClickHouse, says 503, and serves when it is there', async ({ clickhouseEnv }) => {
  const upstream = Number(new URL(clickhouseEnv.CLICKHOUSE_URL).port)
  const relay = createRelay((near) => {
    const far = connect(upstream, '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) socket.on('error', () => socket.destroy())
    open.add(near)
  })
  const open = new Set<Socket>()
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const { port } = relay.address() as AddressInfo
  await new Promise((resolve) => relay.close(resolve))

  const { url } = await ready({ ...clickhouseEnv, CLICKHOUSE_URL: `http://127.0.0.1:${port}` })
  const status = async () => (await fetch(url)).status
  expect(await status()).toBe(503)
  relay.listen(port, '127.0.0.1')
  await expect.poll(status, { timeout: 5000 }).toBe(200)
  const closed = new Promise((resolve) => relay.close(resolve))
  for (const socket of open) socket.destroy()
  await closed
  expect(await status()).toBe(503)
})
