import { expect } from 'vitest'
import { operationsOf } from '../../../../../api/http/openapi/document.js'
import { test } from '../../../../support/documented.js'

type Schema = {
  $ref?: string
  type?: string | string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
}

/**
 * What was moved or is held is exact, and written as a decimal string. What is computed, such as a price or an average, is a
 * number. Of each kind: which fields it has, how JSON has them, and how an exact one is written.
 */
const KINDS = [
  {
    fields:
      /^(amount|amount_in|amount_out|balance|supply|supply_at_start|opted_in_supply|cap|minted|burned|baseline_burned)$|_raw$/,
    type: 'string',
    written: /^\d+$/,
  },
  { fields: /^global_reward_per_token$/, type: 'string', written: /^\d+$/ },
  { fields: /^(volume|inbound|outbound|observed)_usd$|^usd_value$/, type: 'string', written: /^\d+\.\d{6}$/ },
  { fields: /(^|_)tokens$/, type: 'number' },
  { fields: /(^|_)(price|usd)$|^price_vs_refusd$|^(open|high|low|close|mean|twap|vwap)$/, type: 'number' },
] as const

/** Whole fields that are not of the type of their kind, and why. */
const EXCEPTIONS: Record<string, { type: 'string' | 'number'; why: string }> = {
  observed_flow_usd: { type: 'number', why: 'a sum, which the published interface has as a number' },
  backing: { type: 'string', why: 'a word, not an amount' },
  price: { type: 'string', why: 'of a request, in a 402: what has to be paid, exactly' },
}
/** Where alone the exceptions hold; everywhere, if not named. */
const ONLY_IN: Record<string, string> = { price: '<Problem>' }

/** Names that suggest an amount. */
const SUGGESTS = /usd|price|amount|supply|cap$|mint|burn|balance|backing|tokens|_raw|volume|reward|vwap|twap/
/** Of those, the fields that are something else. */
const OTHERS =
  /_(pct|seconds|count|risk|share|bps|number|until|from|id|model)$|^(has_|is_)|^(supply_events|burn_surge|from_tokens?|roles_tracked)$/

type Leaf = { name: string; place: string; schema: Schema }

test('every amount in an answer has the type of its kind, and so has its recorded example', ({ document }) => {
  const leaves: Leaf[] = []
  const walk = (schema: Schema, name: string, place: string): void => {
    if (schema.$ref !== undefined) {
      const component = schema.$ref.split('/').at(-1) ?? ''
      if (!place.includes(`<${component}>`))
        walk(document.components.schemas[component] as Schema, name, `${place}<${component}>`)
      return
    }
    for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(part, name, place)
    if (schema.items) walk(schema.items, name, place)
    for (const [field, part] of Object.entries(schema.properties ?? {})) walk(part, field, `${place}.${field}`)
    if (!schema.anyOf && !schema.oneOf && !schema.items && !schema.properties) leaves.push({ name, place, schema })
  }
  const examples: { name: string; place: string; value: unknown }[] = []
  const walkExample = (value: unknown, name: string, place: string): void => {
    if (typeof value !== 'object' || value === null) examples.push({ name, place, value })
    else
      for (const [field, part] of Object.entries(value))
        walkExample(part, Array.isArray(value) ? name : field, Array.isArray(value) ? place : `${place}.${field}`)
  }
  for (const { operation } of operationsOf(document))
    for (const [status, response] of Object.entries(operation.responses)) {
      const content = 'content' in response ? Object.values(response.content ?? {}) : []
      for (const { schema, example } of content as { schema?: Schema; example?: unknown }[]) {
        if (schema) walk(schema, '', `${operation.operationId} ${status}`)
        if (example) walkExample(example, '', `${operation.operationId} ${status}`)
      }
    }

  const kindOf = (name: string, place: string) => {
    const own = EXCEPTIONS[name]
    if (own && place.includes(ONLY_IN[name] ?? '')) return { type: own.type, written: undefined }
    return KINDS.find(({ fields }) => fields.test(name))
  }
  const seen = new Set<string>()
  for (const { name, place, schema } of leaves) {
    const kind = kindOf(name, place)
    if (!kind) {
      expect(SUGGESTS.test(name) && !OTHERS.test(name), `${place}: of which kind is it?`).toBe(false)
      continue
    }
    const types = [schema.type ?? []].flat().filter((type) => type !== 'null')
    for (const type of types) expect([place, type === 'integer' ? 'number' : type]).toEqual([place, kind.type])
    if (types.length > 0) seen.add(name)
  }
  for (const { name, place, value } of examples) {
    const kind = kindOf(name, place)
    if (!kind || value === null || typeof value === 'boolean') continue
    expect([place, typeof value]).toEqual([place, kind.type])
    if ('written' in kind && kind.written) expect(value, place).toMatch(kind.written)
  }
  for (const name of [...Object.keys(EXCEPTIONS), 'amount', 'supply', 'volume_usd', 'price_vs_refusd', 'amount_tokens'])
    expect([...seen], name).toContain(name)
})
