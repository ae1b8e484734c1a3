import { readFile } from 'node:fs/promises'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { expect } from 'vitest'
import { describedTools, listed } from '../../../../clients/mcp/src/schemas.js'
import { TOOLS } from '../../../../clients/mcp/src/tools.js'
import { test } from '../../../support/documented.js'

const EXAMPLES = new URL('../../../../api/http/openapi/examples/', import.meta.url)

/** What a recorded answer would be if its first field with a value were of another type. */
function spoilt(answer: object): object {
  const [field, value] = Object.entries(answer).find(([, value]) => value !== null) ?? []
  return { ...answer, [field ?? '']: typeof value === 'boolean' ? 'yes' : true }
}

test('an agent reads at most 16 KiB to know every tool', ({ document }) => {
  const tools = listed(describedTools(document as never))
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS))
  expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThanOrEqual(16_384)
})

test('the schema of each tool allows the recorded answer, with every field of it, and no other types', async ({
  document,
}) => {
  for (const [name, { outputSchema }] of describedTools(document as never)) {
    const recorded = await readFile(new URL(`${TOOLS[name]?.operation}.json`, EXAMPLES), 'utf8')
    const answer = JSON.parse(recorded)['200']['application/json']
    const validate = new AjvJsonSchemaValidator().getValidator(outputSchema as never)
    const isAllowed = (answer: object) => validate({ answer, units: '', link: '' }).valid
    expect([name, isAllowed(answer), isAllowed(spoilt(answer))]).toEqual([name, true, false])
    for (const part of TOOLS[name]?.parts ?? []) {
      const rows = [answer[part] ?? []].flat()
      const properties = outputSchema.properties.answer?.properties?.[part]
      const listed = properties?.items?.properties ?? properties?.properties ?? {}
      for (const row of rows) {
        expect(Object.keys(listed), `${name} ${part}`).toEqual(expect.arrayContaining(Object.keys(row)))
        const wrong = Array.isArray(answer[part]) ? [spoilt(row)] : spoilt(row)
        expect([name, part, isAllowed({ ...answer, [part]: wrong })]).toEqual([name, part, false])
      }
      expect(Object.keys(listed).length, `${name} ${part}`).toBeGreaterThan(0)
    }
  }
})
