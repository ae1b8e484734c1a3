import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readListFile } from '../../../../ingest/token-list/read.js'

const folder = mkdtempSync(join(tmpdir(), 'plumbline-list-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a file is read again only after it was written again', () => {
  const path = join(folder, 'list.json')
  const write = (text: string, seconds: number) => {
    writeFileSync(path, text)
    utimesSync(path, seconds, seconds)
  }
  write('first', 1_790_000_000)
  const { text, version } = readListFile(path)
  expect(text).toBe('first')
  expect(readListFile(path, version)).toBeNull()
  write('other', 1_790_000_001)
  expect(readListFile(path, version)?.text).toBe('other')
})

test('a file that is gone cannot be read now, which may pass', () => {
  expect(() => readListFile(join(folder, 'none.json'))).toThrow(
    expect.objectContaining({ message: 'cannot be read: ENOENT', retryable: true }),
  )
})
