import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { depth } from '../../../../test/support/depth.js'
import { basic, type Http, httpTo, runningQueries, start, withDirectory } from './engine.js'

/** Number of shutdowns in each state: 20 for the full run. */
const rounds = depth('SIGTERM_ROUNDS', 1, 20)

type State = { sent: ClientRequest[]; http: Http; url: string }

function open({ sent, url }: State, query: string): ClientRequest {
  const address = new URL(url)
  address.searchParams.set('query', query)
  const asked = request(address, { method: 'POST', headers: basic, agent: false })
  asked.on('error', () => undefined)
  sent.push(asked)
  return asked
}

async function until(what: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 500; i++, await sleep(20)) if (await what()) return
  throw new Error(`not within 10 s: ${what}`)
}

const runs = (state: State, count = 1) => until(async () => (await runningQueries(state.http)).length >= count)

const rows = Buffer.from('12345\n'.repeat(100_000))

/** Brings an engine into the state in which it is shut down. */
const states: Record<string, (state: State) => Promise<void>> = {
  idle: async () => undefined,
  'heavy queries': async (state) => {
    for (let i = 0; i < 4; i++) open(state, 'SELECT sum(cityHash64(number)) FROM system.numbers').end()
    await runs(state, 4)
  },
  'a streaming insert': async (state) => {
    await state.http('CREATE TABLE IF NOT EXISTS streamed (a UInt64) ENGINE = MergeTree ORDER BY a')
    const sent = open(state, 'INSERT INTO streamed FORMAT TSV')
    const feed = () => {
      while (!sent.destroyed && sent.write(rows));
    }
    sent.on('drain', feed)
    feed()
    await runs(state)
  },
  'an insert whose rows do not come': async (state) => {
    await state.http('CREATE TABLE IF NOT EXISTS waiting (a UInt64) ENGINE = MergeTree ORDER BY a')
    for (const count of [1, 20]) {
      const sent = open(state, 'INSERT INTO waiting FORMAT TSV')
      for (let i = 0; i < count; i++) sent.write(rows)
    }
    await runs(state)
  },
  'a stalled reader': async (state) => {
    const sent = open(state, 'SELECT number FROM system.numbers FORMAT TSV')
    sent.end()
    const [response] = await once(sent, 'response')
    response.on('error', () => undefined)
    response.pause()
    await runs(state)
  },
  'a merge': async (state) => {
    await state.http('CREATE TABLE IF NOT EXISTS merged (a UInt64, b String) ENGINE = MergeTree ORDER BY b')
    const insert = 'INSERT INTO merged SELECT rand64(), toString(cityHash64(rand64())) FROM numbers(700000)'
    for (let i = 0; i < 3; i++) expect(await state.http(insert)).toMatchObject({ status: 200 })
    open(state, 'OPTIMIZE TABLE merged FINAL').end()
    await until(async () => (await state.http('SELECT count() FROM system.merges')).text !== '0\n')
  },
}

const longest = new Map<string, number>()

afterAll(() => {
  const shown = [...longest].map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(', ')
  console.log(`SIGTERM, ${rounds} times each, at most: ${shown}`)
})

for (const [name, enter] of Object.entries(states)) {
  test(
    `SIGTERM ends it in good order with ${name}`,
    async () => {
      await withDirectory(async (directory) => {
        for (let round = 0; round < rounds; round++) {
          const engine = await start(directory)
          const state: State = { sent: [], http: httpTo(engine.url), url: engine.url }
          await enter(state)
          const started = performance.now()
          await engine.stop()
          // A signal would mean that its own time limit of 5 s killed it.
          expect(await engine.exited).toEqual({ code: 0, signal: null })
          longest.set(name, Math.max(longest.get(name) ?? 0, performance.now() - started))
          for (const sent of state.sent) sent.destroy()
        }
      })
    },
    60_000 + rounds * 20_000,
  )
}

test('a request during shutdown gets a response or a closed connection', async () => {
  await withDirectory(async (directory) => {
    const engine = await start(directory)
    const http = httpTo(engine.url)
    const asked = Promise.allSettled(Array.from({ length: 20 }, () => http('SELECT sleep(0.2)')))
    await sleep(50)
    await engine.stop()
    for (const outcome of await asked) {
      if (outcome.status === 'fulfilled') expect([200, 500]).toContain(outcome.value.status)
    }
    expect(await engine.exited).toEqual({ code: 0, signal: null })
  })
})
