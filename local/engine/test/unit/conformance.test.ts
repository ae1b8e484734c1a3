import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { differences, differencesInTime } from '../integration/conformance/differences.js'

const folder = new URL('../integration/conformance/', import.meta.url)

test('every known difference names an existing test', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  const source = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n')
  // The name of a generated test contains its case, which then appears in the file.
  const parts = (name: string) => [name, name.split(': ').at(-1), name.split(' ')[0]]
  const names = Object.keys({ ...differences, ...differencesInTime })
  const missing = names.filter((name) => !parts(name).some((part) => source.includes(`'${part}'`)))
  expect(missing).toEqual([])
})
