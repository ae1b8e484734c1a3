import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'

const RUN_PROCESS = new URL('../../../dist/process/run-process.js', import.meta.url).href
const PROGRAM = `
import { setTimeout as sleep } from 'node:timers/promises'
import { runProcess } from '${RUN_PROCESS}'
await runProcess('it', () => ({ LOG_LEVEL: 'info' }), async ({ log }) => {
  for (let i = 0; i < 300; i++) {
    console.log('a line', i)
    console.error('another', i)
    log.info({ filler: 'x'.repeat(10_000) }, 'a record')
    if (i % 100 === 0) await sleep(20)
  }
  return 7
})`

/** How the program ends whose output goes to these descriptors. */
async function endWith(stdio: number | 'pipe', close: boolean): Promise<unknown> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], { stdio: ['ignore', stdio, stdio] })
  if (close) for (const stream of [child.stdout, child.stderr]) stream?.destroy()
  const [code] = await once(child, 'exit')
  return code
}

test('a process works on when the reader of its output has gone', async () => {
  expect(await endWith('pipe', true)).toBe(7)
})

test('a process works on when the disk of its log is full', async () => {
  const full = openSync('/dev/full', 'w')
  expect(await endWith(full, false)).toBe(7)
  closeSync(full)
})
