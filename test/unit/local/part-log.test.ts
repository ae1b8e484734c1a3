import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PartLog } from '../../../local/part-log.js'

const LINE = 'a line of 20 letters'

test('a log takes bounded room while it is written, and keeps the newest lines', () => {
  const dir = mkdtempSync(join(tmpdir(), 'plumbline-log-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'part.log')
  for (const run of ['first', 'second']) {
    const log = new PartLog(file, 1000)
    for (let i = 0; i < 200; i++) log.write(`${LINE} ${i} ${run}`)
    log.end()
  }
  expect(readdirSync(dir).sort()).toEqual(['part.log', 'part.log.1'])
  expect(statSync(file).size + statSync(`${file}.1`).size).toBeLessThan(2200)
  const lines = `${readFileSync(`${file}.1`)}${readFileSync(file)}`.trimEnd().split('\n')
  const newest = Array.from({ length: lines.length }, (_, i) => `${LINE} ${200 - lines.length + i} second`)
  expect(lines).toEqual(newest)
  expect(lines.length).toBeGreaterThan(30)
})
