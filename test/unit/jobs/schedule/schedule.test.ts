import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { runSchedule } from '../../../../jobs/schedule/schedule.js'

const WORKER = `
import { appendFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
const runs = new URL('./runs', import.meta.url)
parentPort.postMessage('alive')
appendFileSync(runs, 'begins\\n')
// The first run ends with an error, the second at once, the third when it is canceled.
const { length } = (await import('node:fs')).readFileSync(runs, 'utf8').trim().split('\\n')
if (length === 1) throw new Error('on purpose')
if (length === 2) process.exit(0)
parentPort.on('message', () => {
  appendFileSync(runs, 'told to end\\n')
  parentPort.postMessage('done')
})
`

const COUNTED_WORKER = `
import { appendFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
appendFileSync(new URL('./runs', import.meta.url), 'runs\\n')
parentPort.postMessage('done')
`

/** Runs a worker with a period of a second until `isOver`, and resolves to how often it ran and how often `due` was asked. */
async function runsOf(
  due: (asked: number) => Promise<readonly string[]>,
  isOver: (seen: { runs: number; asked: number }) => boolean,
): Promise<{ runs: number; asked: number }> {
  const dir = await mkdtemp(join(tmpdir(), 'plumbline-schedule-'))
  const path = join(dir, 'counted.mjs')
  await writeFile(path, COUNTED_WORKER)
  const seen = { runs: 0, asked: 0 }
  const stop = new AbortController()
  const running = runSchedule({
    jobs: [{ name: 'counted', path, period_seconds: 1 }],
    workerData: { term: 1, instance: 'test', validity: new SharedArrayBuffer(8) },
    due: () => due(++seen.asked),
    stuckAfterMs: 60_000,
    onFailed: () => {},
    onStuck: async () => {},
    log: pino({ level: 'silent' }),
    signal: stop.signal,
  })
  while (!isOver(seen)) {
    await sleep(50)
    seen.runs = (await readFile(join(dir, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1
  }
  stop.abort()
  await running
  await rm(dir, { recursive: true })
  return seen
}

test('a worker is started only when it has something to do', async () => {
  const { runs } = await runsOf(
    async (asked) => (asked === 3 ? ['counted'] : []),
    ({ runs, asked }) => runs > 0 && asked > 4,
  )
  expect(runs).toBe(1)
})

test('when it cannot be found out whether there is something to do, the worker is started and reports why', async () => {
  const { runs } = await runsOf(
    async () => Promise.reject(new Error('no database')),
    ({ runs }) => runs > 1,
  )
  expect(runs).toBeGreaterThan(1)
})

test('a worker that runs continuously is restarted when it ends, and is stopped with the others', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'plumbline-schedule-'))
  const path = join(dir, 'always.mjs')
  await writeFile(path, WORKER)
  const runs = async (): Promise<string[]> =>
    (await readFile(join(dir, 'runs'), 'utf8').catch(() => '')).trim().split('\n')
  const stop = new AbortController()
  const running = runSchedule({
    jobs: [{ name: 'always', path, period_seconds: null }],
    workerData: { term: 1, instance: 'test', validity: new SharedArrayBuffer(8) },
    due: async (names) => names,
    stuckAfterMs: 60_000,
    onFailed: () => {},
    onStuck: async () => {},
    log: pino({ level: 'silent' }),
    signal: stop.signal,
  })
  while ((await runs()).length < 3) await sleep(50)
  stop.abort()
  await running
  expect(await runs()).toEqual(['begins', 'begins', 'begins', 'told to end'])
  await rm(dir, { recursive: true })
})
