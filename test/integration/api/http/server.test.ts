import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect } from 'vitest'
import { readyApi as ready, startApi as start } from '../../../support/api-server.js'
import { relayTo } from '../../../support/relay.js'
import { test } from '../../../support/services.js'

/** The lines for people; the log is in JSON. */
const words = (stderr: readonly string[]) => stderr.filter((line) => !line.startsWith('{'))

test('it prints its address once it answers there', async ({ clickhouseEnv }) => {
  const { url } = await ready(clickhouseEnv)
  expect(await (await fetch(url)).json()).toEqual({ stablecoins: [], next_cursor: null })
})

test.for(['SIGTERM', 'SIGINT'] as const)(
  '%s ends it with exit code 0, and no request is cut off',
  async (signal, { clickhouseEnv }) => {
    const { child, url, ended, stderr } = await ready(clickhouseEnv)
    // The client keeps it open, which must not delay the shutdown.
    await (await fetch(url)).json()
    const last = fetch(url).then((response) => response.status)
    setTimeout(() => child.kill(signal), 5)
    expect(await last).toBe(200)
    expect(await ended).toBe(0)
    expect(words(stderr)).toEqual([])
  },
)

test('it ends when its parent process is gone', async ({ clickhouseEnv }) => {
  const { child, ended } = await ready(clickhouseEnv)
  child.disconnect()
  expect(await ended).toBe(0)
})

describe('a failed start prints one line for', () => {
  test('a port in use, code 1', async ({ clickhouseEnv }) => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { ended, stderr, stdout } = start({ ...clickhouseEnv, PORT: String(port) })
    expect(await ended).toBe(1)
    expect(words(stderr)).toEqual([`api stops: PORT: port ${port} is in use (exit code 1: a restart may help)`])
    expect(stdout).toEqual([])
    other.close()
  })

  test('an address of another machine, code 1', async ({ clickhouseEnv }) => {
    const { ended, stderr } = start({ ...clickhouseEnv, PORT: '0', HOST: '192.0.2.1' })
    expect(await ended).toBe(1)
    expect(words(stderr)).toEqual([
      'api stops: HOST: 192.0.2.1 is not an address of this machine (exit code 1: a restart may help)',
    ])
  })

  test('all bad variables, with the exit code that advises against a restart', async () => {
    const { ended, stderr } = start({ PORT: 'http', LOG_LEVEL: 'loud' })
    expect(await ended).toBe(78)
    expect(stderr.join('\n')).toMatch(/^api stops: bad configuration: PORT: .*; LOG_LEVEL: .*$/)
    expect(stderr.join('\n')).not.toContain('    at ')
  })
})

test('it starts without ClickHouse, returns 503, and serves once ClickHouse is up', async ({ clickhouseEnv }) => {
  const relay = await relayTo(clickhouseEnv.CLICKHOUSE_URL)
  await relay.cut()
  // The cache is off, because it would have an answer.
  const { url } = await ready({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url, CACHE_MEMORY_MB: '0' })
  const status = async () => (await fetch(url)).status
  expect(await status()).toBe(503)
  await relay.mend()
  await expect.poll(status, { timeout: 60_000 }).toBe(200)
  await relay.cut()
  expect(await status()).toBe(503)
})
