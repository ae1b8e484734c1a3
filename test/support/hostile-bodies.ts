import fc, { type Arbitrary } from 'fast-check'
import type { ApiOperation } from '../../api/http/openapi/document.js'

type Schema = {
  type?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  examples?: unknown[]
}

export type Body = { type: string; text: string }

/** A value that roughly fits a schema, sometimes replaced by others. */
function nearly(schema: Schema): Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary: allowed(schema) }, { weight: 1, arbitrary: fc.jsonValue() })
}

function allowed({
  type,
  enum: values,
  minimum,
  maximum,
  items,
  properties = {},
  required = [],
  anyOf,
  examples,
}: Schema): Arbitrary<unknown> {
  if (examples) return fc.constantFrom(...examples)
  if (anyOf) return fc.oneof(...anyOf.map(allowed))
  if (type === 'null') return fc.constant(null)
  if (values) return fc.constantFrom(...values)
  if (type === 'object')
    return fc.record(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, nearly(schema)])), {
      requiredKeys: required,
    })
  if (type === 'array') return fc.array(items ? nearly(items) : fc.jsonValue(), { maxLength: 5 })
  if (type === 'integer') return fc.integer({ min: minimum ?? -10, max: maximum ?? 2 ** 53 - 1 })
  if (type === 'boolean') return fc.boolean()
  return fc.string({ unit: 'grapheme', maxLength: 120 })
}

/** Bodies from careless or malicious clients. */
export const garbageBodies: Arbitrary<Body> = fc.record({
  type: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/xml',
    '',
  ),
  text: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.json({ maxDepth: 4 }),
    fc.constantFrom(
      '',
      '{}',
      'null',
      '{"__proto__":{"tier":"admin"}}',
      '{"constructor":{"prototype":{"tier":"admin"}}}',
      '['.repeat(5000),
      `{"a":"${'x'.repeat(60_000)}"}`,
      '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
      '\0',
    ),
  ),
})

/** Bodies for an operation: almost valid ones if it takes a body, otherwise anything. */
export function bodiesOf({ requestBody }: ApiOperation): Arbitrary<Body> {
  const schema = requestBody?.content['application/json']?.schema
  if (!schema) return garbageBodies
  const meant = nearly(schema).map((value) => ({ type: 'application/json', text: JSON.stringify(value) }))
  return fc.oneof({ weight: 4, arbitrary: meant }, { weight: 1, arbitrary: garbageBodies })
}
