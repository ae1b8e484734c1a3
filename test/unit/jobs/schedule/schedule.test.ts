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
