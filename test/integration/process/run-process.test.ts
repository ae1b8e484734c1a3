import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const module = (path: string): string => new URL(`../../../dist/process/${path}.js`, import.meta.url).href
const HEAD = `
import { setTimeout as sleep } from 'node:timers/promises'
import { PlumblineError } from '${module('errors')}'
import { runCommand, runProcess } from '${module('run-process')}'
const config = () => ({ LOG_LEVEL: 'info' })
`

/** Runs these lines as a program, sends it `signal` once it prints, and returns how it ended. */
async function endOf(lines: string, signal?: NodeJS.Signals) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HEAD + lines], { stdio: 'pipe' })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  if (signal) child.stdout.once('data', () => child.kill(signal))
  const [code, killedBy] = await once(child, 'close')
  return { code, killedBy, errors }
}

const RETRYABLE = '(exit code 1: a restart may help)'
const FINAL = '(exit code 78: correct this first: a restart alone does not help)'

test('the exit code and the last line say why it ended, and whether a restart may help', async () => {
  const program = (error: string): string => `await runProcess('it', config, async () => { throw ${error} })`
  expect(await endOf(program("new Error('broken')"))).toMatchObject({
    code: 1,
    errors: `it stops: broken ${RETRYABLE}\n`,
  })
  expect(await endOf(program("new PlumblineError('away', { retryable: true })"))).toMatchObject({
    code: 1,
    errors: `it stops: away ${RETRYABLE}\n`,
  })
  expect(await endOf(program("new PlumblineError('wrong', { retryable: false })"))).toMatchObject({
    code: 78,
    errors: `it stops: wrong ${FINAL}\n`,
  })
  const unreadable = `() => { throw new PlumblineError('bad:\\n  A: no\\n  B: no', { retryable: false }) }`
  expect(await endOf(`await runProcess('it', ${unreadable}, async () => {})`)).toMatchObject({
    code: 78,
    errors: `it stops: bad: A: no; B: no ${FINAL}\n`,
  })
  expect(await endOf("await runCommand('it', async () => 3)")).toMatchObject({ code: 3 })
  expect(await endOf("await runCommand('it', async () => {})")).toMatchObject({ code: 0, errors: '' })
})

test.for(["setTimeout(() => { throw new Error('late') })", "void Promise.reject(new Error('late'))"])(
  'an error that nobody awaits is the last line as well: %s',
  async (late) => {
    const { code, errors } = await endOf(`await runCommand('it', async () => { ${late}; await sleep(60_000) })`)
    expect(code).toBe(1)
    expect(errors.trimEnd().split('\n').at(-1)).toBe(`it stops: late ${RETRYABLE}`)
  },
)

test('a process that is asked to stop ends its work first; its AbortError is not a failure', async () => {
  const program = `await runProcess('it', config, async ({ log, signal }) => {
    console.log('runs')
    try { await sleep(60_000, undefined, { signal }) } finally { log.info('ends') }
  })`
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { code, errors } = await endOf(program, signal)
    expect(code).toBe(0)
    expect(JSON.parse(errors)).toMatchObject({ name: 'it', msg: 'ends' })
  }
})

test('an AbortError of a process that was not asked to stop is a failure', async () => {
  const program = `await runProcess('it', config, () => sleep(60_000, undefined, { signal: AbortSignal.abort() }))`
  expect(await endOf(program)).toMatchObject({ code: 1 })
})

test('a signal ends a command at once', async () => {
  const program = `await runCommand('it', async () => { console.log('runs'); await sleep(60_000) })`
  expect(await endOf(program, 'SIGTERM')).toMatchObject({ code: null, killedBy: 'SIGTERM' })
})
