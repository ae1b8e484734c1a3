import { readFile, writeFile } from 'node:fs/promises'
import { generateApi } from 'swagger-typescript-api'
import { expect } from 'vitest'
import { operationsOf } from '../../../api/http/openapi/document.js'
import { test } from '../../support/documented.js'

const FILE = new URL('../../../dashboard/api/types.ts', import.meta.url)

/** `npm run examples` writes the types of the bodies of all GET routes; otherwise they are only compared. */
test('the types of the page are those of the document', async ({ document }) => {
  for (const { operation } of operationsOf(document)) {
    operation.parameters = []
    delete operation.requestBody
    for (const status of Object.keys(operation.responses)) if (status !== '200') delete operation.responses[status]
  }
  document.paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, { get }]) => (get ? [[path, { get }]] : [])),
  )
  const { files } = await generateApi({
    spec: document as never,
    output: false,
    silent: true,
    generateClient: false,
    extractResponseBody: true,
    enumStyle: 'union',
  } as never)
  // What fields mean is in the reference; a change of words is not a change of types.
  const text = files.map(({ fileContent }) => fileContent.replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')).join('\n')
  if (process.env.RECORD_EXAMPLES === 'yes') await writeFile(FILE, text)
  expect(text).toBe(await readFile(FILE, 'utf8'))
})
