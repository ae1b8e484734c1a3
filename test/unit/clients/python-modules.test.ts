import { readFile, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { test } from '../../support/documented.js'
import { pythonModules } from '../../support/python-client.js'

const PACKAGE = new URL('../../../clients/python/src/plumbline_client/', import.meta.url)

/** `npm run examples` writes them; otherwise they are only compared. */
test('the types and methods of the Python client are those of the document', async ({ document }) => {
  for (const [name, text] of Object.entries(pythonModules(document))) {
    const file = new URL(name, PACKAGE)
    if (process.env.RECORD_EXAMPLES === 'yes') await writeFile(file, text)
    expect(text).toBe(await readFile(file, 'utf8'))
  }
})
