import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { METHODOLOGY_VERSION } from '../../../process/methodology.js'

test('the version in answers is the version of the document', () => {
  const document = readFileSync(new URL('../../../docs/methodology/README.md', import.meta.url), 'utf8')
  expect(/^Version \*\*(.+)\*\*/m.exec(document)?.[1]).toBe(METHODOLOGY_VERSION)
})
