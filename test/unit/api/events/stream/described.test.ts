import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { readyMessage, sampleMessage } from '../../../../../api/events/stream/messages.js'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import type { StoredSample } from '../../../../../clickhouse/peg/price.js'
import { test } from '../../../../support/documented.js'

const SAMPLE: StoredSample = {
  block_number: 7,
  block_time: new Date('2026-07-01T12:00:00Z'),
  status: 'quoted',
  sell_micros: 999_800,
  buy_micros: 1_000_100,
}

const partsOf = (message: string): { event: string; data: unknown } => {
  const [, event = '', data = ''] = /^event: (.+)\n(?:id: .+\n)?data: (.+)\n\n$/m.exec(message) ?? []
  return { event, data: JSON.parse(data) }
}

test('the document describes every message of the stream', ({ document }) => {
  const response = document.paths['/api/v1/stream']?.get?.responses['200'] as {
    content: Record<string, { schema: { contentSchema: { items: { oneOf: { properties: { event: object } }[] } } } }>
  }
  const { items } = response.content['text/event-stream']?.schema.contentSchema ?? {}
  const names = items?.oneOf.flatMap(({ properties: { event } }) => Object.values(event).slice(1).flat())
  expect(names).toEqual(['ready', 'peg_sample', ...EVENT_TYPES])
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ ...document, $id: 'openapi' })
  const validate = ajv.compile(JSON.parse(JSON.stringify(items).replaceAll('"#/', '"openapi#/')))
  for (const message of [
    readyMessage({ sequence: 3 }, 1000),
    readyMessage({ sequence: 3, unknown_position: true }, 1000),
    sampleMessage('0x1', SAMPLE),
    sampleMessage('0x1', { ...SAMPLE, buy_micros: null }),
    sampleMessage('0x1', { ...SAMPLE, status: 'no_liquidity', sell_micros: null, buy_micros: null }),
  ])
    expect([message, validate(partsOf(message)), validate.errors]).toEqual([message, true, null])
  expect(validate({ ...partsOf(readyMessage({ sequence: 3 }, 1000)), event: 'peg_sample' })).toBe(false)
})

test('the Python client’s sample, which is written by hand, has the described fields', ({ document }) => {
  const source = readFileSync(
    new URL('../../../../../clients/python/src/plumbline_client/stream.py', import.meta.url),
    'utf8',
  )
  const [, body = ''] = /^class PegSample\(TypedDict\):\n {4}""".+"""\n\n((?: {4}.+\n)+)/m.exec(source) ?? []
  const fields = [...body.matchAll(/^ {4}(\w+): (.+)$/gm)].map(([, name, type]) => [name, type])
  const { properties = {} } = document.components.schemas.PegSample as {
    properties?: Record<string, { type: string | string[] }>
  }
  const PYTHON: Record<string, string> = { string: 'str', integer: 'int', number: 'float', null: 'None' }
  expect(fields).toEqual(
    Object.entries(properties).map(([name, { type }]) => [
      name,
      // None is written last.
      [type]
        .flat()
        .toSorted((a, b) => Number(a === 'null') - Number(b === 'null'))
        .map((one) => PYTHON[one])
        .join(' | '),
    ]),
  )
})
