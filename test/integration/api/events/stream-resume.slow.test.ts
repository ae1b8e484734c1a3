import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { EventSource } from 'eventsource'
import { expect, onTestFinished, vi } from 'vitest'
import { EVENT_TYPES } from '../../../../clickhouse/events/types.js'
import type { ClickHouseEnv } from '../../../../clickhouse/store/client.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { addEvents, madeUpEvent } from '../../../support/events.js'
import { type IngestProcess, processOf } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'
import { PATIENCE } from '../../../support/stream.js'

const PROGRAM = fileURLToPath(new URL('../../../../dist/api/server.js', import.meta.url))
const KILLS = depth('KILL_ROUNDS', 2, 30)
const SEED = Number(process.env.FAULT_SEED ?? 1)

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `${port}`
}

/** The compiled API as a process of its own, once it listens. */
async function startApi(env: ClickHouseEnv, port: string): Promise<IngestProcess> {
  const variables = { ...env, PORT: port }
  const child = spawn(process.execPath, [PROGRAM], { env: variables, stdio: ['ignore', 'pipe', 'pipe'] })
  const api = processOf(child)
  onTestFinished(() => api.kill('SIGKILL'))
  await vi.waitFor(() => expect(api.output()).toContain('api ready'), PATIENCE)
  return api
}

test('a standard client misses no event and gets none twice, however often the server is killed', {
  timeout: 600_000,
}, async ({ clickhouseEnv, clickhouse }) => {
  const random = randomFor(SEED, 'kills of the server')
  const port = await freePort()
  let api = await startApi(clickhouseEnv, port)
  const source = new EventSource(`http://127.0.0.1:${port}/api/v1/stream?types=${EVENT_TYPES}`)
  onTestFinished(() => source.close())
  const got: string[] = []
  for (const type of EVENT_TYPES) source.addEventListener(type, ({ data }) => got.push(JSON.parse(data).id))
  await new Promise((resolve) => source.addEventListener('ready', resolve, { once: true }))
  const recorded: string[] = []
  const tell = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, (_, i) => madeUpEvent(recorded.length + i))
    await addEvents(clickhouse, events)
    recorded.push(...events.map(({ id }) => id))
  }
  for (let kill = 0; kill < KILLS; kill++) {
    await tell(random.int(0, 3))
    // Sometimes before any event of the round has arrived.
    if (random.chance(0.6)) await vi.waitFor(() => expect(got).toEqual(recorded), PATIENCE)
    await tell(random.int(0, 2))
    await api.kill(random.chance(0.7) ? 'SIGKILL' : 'SIGTERM')
    await tell(random.int(1, 5))
    api = await startApi(clickhouseEnv, port)
  }
  await tell(3)
  await vi.waitFor(() => expect(got).toEqual(recorded), { ...PATIENCE, timeout: 120_000 })
})
