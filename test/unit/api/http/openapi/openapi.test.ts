import { pino } from 'pino'
import { test as base, expect } from 'vitest'
import { buildApp } from '../../../../../api/app.js'
import { connect } from '../../../../../clickhouse/store/client.js'

type Schema = {
  type?: string
  description?: string
  $ref?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
}
type Content = Record<string, { schema: Schema }>
type Response = { $ref?: string; description?: string; content?: Content }
type Operation = {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: {
    name: string
    in: string
    required?: boolean
    description?: string
    example?: unknown
    schema: Schema
  }[]
  security?: Record<string, string[]>[]
  responses: Record<string, Response>
}
type Document = {
  openapi: string
  info: { title: string; version: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response>; headers: Record<string, unknown> }
}

// This needs no ClickHouse.
const nowhere = {
  CLICKHOUSE_URL: 'http://127.0.0.1:9',
  CLICKHOUSE_USER: '',
  CLICKHOUSE_PASSWORD: '',
  CLICKHOUSE_DATABASE: 'd',
}

const test = base.extend<{ document: Document }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  document: async ({}, use) => {
    const clickhouse = connect(nowhere, { application: 'test' })
    const app = await buildApp({ clickhouse, now: () => new Date(), logger: pino({ level: 'silent' }) })
    await use((await app.inject('/openapi.json')).json())
    await app.close()
    await clickhouse.close()
  },
})

const operations = (document: Document): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, { get }]): [string, Operation][] => (get ? [[path, get]] : []))

/** Every value in a document, at any depth. */
function* values(value: unknown): Generator<unknown> {
  yield value
  if (typeof value === 'object' && value !== null) for (const child of Object.values(value)) yield* values(child)
}

/** All routes that change something are the operator's. */
const ADMIN: Record<string, string[]> = {
  '/api/admin/keys': ['get', 'post'],
  '/api/admin/keys/{id}': ['delete'],
  '/api/admin/webhooks': ['get', 'post'],
  '/api/admin/webhooks/{id}': ['delete', 'get', 'patch'],
  '/api/admin/webhooks/{id}/deliveries': ['get'],
  '/api/admin/webhooks/{id}/deliveries/{delivery_id}/replay': ['post'],
  '/api/admin/webhooks/{id}/disable': ['post'],
  '/api/admin/webhooks/{id}/enable': ['post'],
  '/api/admin/webhooks/{id}/replay': ['post'],
  '/api/admin/webhooks/{id}/rotate-secret': ['post'],
  '/api/admin/webhooks/{id}/test': ['post'],
}

test('the document is OpenAPI 3.1 and has every route; public routes only have GET', ({ document }) => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.info).toMatchObject({ title: 'Plumbline', version: expect.any(String) })
  expect(Object.keys(document.paths).sort()).toEqual([
    '/',
    ...Object.keys(ADMIN),
    '/api/v1/events',
    '/api/v1/fee-economics/overview',
    '/api/v1/stablecoins',
    '/api/v1/stablecoins/flow-anomalies',
    '/api/v1/stablecoins/flows',
    '/api/v1/stablecoins/flows/export',
    '/api/v1/stablecoins/flows/history',
    '/api/v1/stablecoins/flows/scores',
    '/api/v1/stablecoins/peg-events',
    '/api/v1/stablecoins/peg/series',
    '/api/v1/stablecoins/{address}',
    '/api/v1/stablecoins/{address}/analysis',
    '/api/v1/stablecoins/{address}/book',
    '/api/v1/stablecoins/{address}/depth',
    '/api/v1/stablecoins/{address}/depth/series',
    '/api/v1/stablecoins/{address}/holders',
    '/api/v1/stablecoins/{address}/issuance',
    '/api/v1/stablecoins/{address}/liquidity',
    '/api/v1/stablecoins/{address}/liquidity/series',
    '/api/v1/stablecoins/{address}/peg',
    '/api/v1/stablecoins/{address}/peg-events',
    '/api/v1/stablecoins/{address}/peg/averages',
    '/api/v1/stablecoins/{address}/peg/series',
    '/api/v1/stablecoins/{address}/peg/windows/series',
    '/api/v1/stablecoins/{address}/reserves',
    '/api/v1/stablecoins/{address}/rewards',
    '/api/v1/stablecoins/{address}/risk',
    '/api/v1/stablecoins/{address}/risk/series',
    '/api/v1/stablecoins/{address}/roles',
    '/api/v1/stablecoins/{address}/supply/series',
    '/api/v1/status',
    '/api/v1/stream',
    '/health/live',
    '/health/ready',
  ])
  for (const [path, item] of Object.entries(document.paths))
    expect(Object.keys(item).sort(), path).toEqual(ADMIN[path] ?? ['get'])
})

test('every operation has a summary, a known tag, and an answer with a schema', ({ document }) => {
  const tags = document.tags.map(({ name }) => name)
  for (const [path, { summary, tags: own, responses }] of operations(document)) {
    expect([path, summary]).toEqual([path, expect.stringMatching(/.{10}/)])
    expect(tags).toContain(own?.[0])
    const content = responses['200']?.content
    const isStream = path === '/api/v1/stream'
    const schema = content?.[isStream ? 'text/event-stream' : 'application/json']?.schema
    expect([path, schema?.type]).toEqual([path, isStream ? 'string' : 'object'])
  }
})

/** The fields in a schema that have no description, at any depth. */
function undescribed({ properties = {}, items, anyOf = [] }: Schema, path: string): string[] {
  const fields = Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description || field.$ref ? [] : [`${path}.${name}`]),
    ...undescribed(field, `${path}.${name}`),
  ])
  return [...fields, ...[items ?? [], anyOf].flat().flatMap((part) => undescribed(part, path))]
}

test('every operation has a unique name, and every parameter and field has a description', ({ document }) => {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.values(item).map((operation): [string, Operation] => [path, operation]),
  )
  const names = all.map(([, { operationId }]) => operationId)
  expect(new Set(names).size).toBe(all.length)
  for (const [path, { operationId, description, parameters = [], responses }] of all) {
    expect([path, operationId]).toEqual([path, expect.stringMatching(/^[a-z][A-Za-z]+$/)])
    expect([path, description]).toEqual([path, expect.stringMatching(/.{20}\.$/)])
    expect([path, parameters.filter((one) => !one.description)]).toEqual([path, []])
    for (const [status, { content = {} }] of Object.entries(responses))
      for (const { schema } of Object.values(content)) expect(undescribed(schema, `${path} ${status}`)).toEqual([])
  }
  for (const [name, schema] of Object.entries(document.components.schemas))
    expect(undescribed(schema, name)).toEqual([])
})

test('every failure is described as a problem document', ({ document }) => {
  const failures = Object.fromEntries(
    operations(document).map(([path, { responses }]) => [
      path,
      Object.keys(responses).filter((status) => status !== '200' && !responses[status]?.$ref),
    ]),
  )
  const { responses: common } = document.components
  expect(failures).toEqual({
    '/': ['400'],
    '/health/live': ['400'],
    '/health/ready': ['400', '503'],
    '/api/admin/keys': ['400', '401', '403', '503'],
    '/api/admin/webhooks': ['400', '401', '403', '503'],
    '/api/admin/webhooks/{id}': ['400', '401', '403', '404', '503'],
    '/api/admin/webhooks/{id}/deliveries': ['400', '401', '403', '404', '503'],
    '/api/v1/events': ['400', '404', '503'],
    '/api/v1/stream': ['400', '404', '503'],
    '/api/v1/fee-economics/overview': ['400', '404', '503'],
    '/api/v1/stablecoins': ['400', '404', '503'],
    '/api/v1/stablecoins/flow-anomalies': ['400', '404', '503'],
    '/api/v1/stablecoins/flows': ['400', '404', '503'],
    '/api/v1/stablecoins/flows/scores': ['400', '404', '503'],
    '/api/v1/stablecoins/flows/history': ['400', '401', '402', '404', '503'],
    '/api/v1/stablecoins/flows/export': ['400', '401', '402', '503'],
    '/api/v1/stablecoins/{address}': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/analysis': ['400', '401', '402', '404', '503'],
    '/api/v1/stablecoins/{address}/book': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/depth': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/liquidity': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/liquidity/series': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/peg': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/peg-events': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/holders': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/issuance': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/peg/averages': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/rewards': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/roles': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/reserves': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/risk': ['400', '404', '503'],
    '/api/v1/stablecoins/peg-events': ['400', '404', '503'],
    '/api/v1/stablecoins/peg/series': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/peg/windows/series': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/depth/series': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/peg/series': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/risk/series': ['400', '404', '503'],
    '/api/v1/stablecoins/{address}/supply/series': ['400', '404', '503'],
    '/api/v1/status': ['400', '503'],
  })
  for (const [, { responses }] of operations(document)) {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '429', 'default']))
    for (const [status, response] of Object.entries(responses)) {
      const { description, content } = common[`${response.$ref}`.split('/').at(-1) ?? ''] ?? response
      expect(description).toBeTruthy()
      if (status === '200' || status === '304') continue
      expect(content).toMatchObject({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      })
    }
  }
  expect(Object.keys(document.components.schemas.Problem?.properties ?? {})).toEqual(
    expect.arrayContaining(['type', 'title', 'status', 'detail', 'parameter', 'errors']),
  )
})

test('every cached answer is described with its ETag, and with a 304 without a body', ({ document }) => {
  const answering = operations(document).filter(([, { responses }]) => '304' in responses)
  expect(answering.map(([path]) => path).sort()).toEqual([
    '/api/v1/fee-economics/overview',
    '/api/v1/stablecoins',
    '/api/v1/stablecoins/flow-anomalies',
    '/api/v1/stablecoins/flows',
    '/api/v1/stablecoins/flows/scores',
    '/api/v1/stablecoins/peg-events',
    '/api/v1/stablecoins/peg/series',
    '/api/v1/stablecoins/{address}',
    '/api/v1/stablecoins/{address}/book',
    '/api/v1/stablecoins/{address}/depth',
    '/api/v1/stablecoins/{address}/depth/series',
    '/api/v1/stablecoins/{address}/holders',
    '/api/v1/stablecoins/{address}/issuance',
    '/api/v1/stablecoins/{address}/liquidity',
    '/api/v1/stablecoins/{address}/liquidity/series',
    '/api/v1/stablecoins/{address}/peg',
    '/api/v1/stablecoins/{address}/peg-events',
    '/api/v1/stablecoins/{address}/peg/averages',
    '/api/v1/stablecoins/{address}/peg/windows/series',
    '/api/v1/stablecoins/{address}/reserves',
    '/api/v1/stablecoins/{address}/rewards',
    '/api/v1/stablecoins/{address}/risk',
    '/api/v1/stablecoins/{address}/roles',
  ])
  const ETag = { $ref: '#/components/headers/ETag' }
  for (const [path, { responses }] of answering) {
    expect([path, responses['304']]).toEqual([path, { $ref: '#/components/responses/NotModified' }])
    expect([path, responses['200']]).toMatchObject([path, { headers: { ETag } }])
  }
  const { NotModified } = document.components.responses
  expect(NotModified).toMatchObject({ headers: { ETag } })
  expect(NotModified).not.toHaveProperty('content')
})

test('every reference resolves, and every definition is referenced', ({ document }) => {
  const references = [...values(document)].flatMap((value) =>
    typeof value === 'object' && value !== null && '$ref' in value ? [String(value.$ref)] : [],
  )
  const { schemas, responses, headers } = document.components
  const defined = Object.entries({ schemas, responses, headers }).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  )
  expect([...new Set(references)].sort()).toEqual(defined.sort())
})

/** The filters of peg breaks. */
const BREAK_FILTERS = [
  { name: 'severity', in: 'query', required: false, schema: { type: 'string', enum: ['mild', 'severe'] } },
  { name: 'min_bps', in: 'query', required: false, schema: { type: 'number', exclusiveMinimum: 0 } },
  { name: 'min_seconds', in: 'query', required: false, schema: { type: 'integer', exclusiveMinimum: 0 } },
  { name: 'min_size', in: 'query', required: false, schema: { type: 'integer', maximum: 1_000_000 } },
]

test('parameters are described as they are validated', ({ document }) => {
  const parameters = (path: string) => document.paths[path]?.get?.parameters ?? []
  expect(parameters('/api/v1/stablecoins/flows')).toMatchObject([
    { name: 'hours', in: 'query', required: false, schema: { type: 'integer', enum: [1, 6, 24], default: 24 } },
    { name: 'stable', in: 'query', required: false, schema: { type: 'string', pattern: expect.any(String) } },
    { name: 'as_of', in: 'query', required: false, schema: { type: 'string' } },
  ])
  expect(parameters('/api/v1/stablecoins/flows/history')).toMatchObject([
    { name: 'from', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'to', in: 'query', required: false, schema: { type: 'string' } },
  ])
  expect(parameters('/api/v1/stablecoins/{address}/peg')).toMatchObject([
    { name: 'as_of', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'address', in: 'path', required: true, schema: { type: 'string', pattern: expect.any(String) } },
  ])
  expect(parameters('/api/v1/stablecoins/{address}/peg-events')).toMatchObject([
    { name: 'as_of', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'known_at', in: 'query', required: false, schema: { type: 'string' } },
    ...BREAK_FILTERS,
    { name: 'track', in: 'query', required: false, schema: { enum: ['published', 'agreed'], default: 'published' } },
    { name: 'limit', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 } },
    { name: 'cursor', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'address', in: 'path', required: true, schema: { type: 'string' } },
  ])
  const isFilter = ({ name }: { name: string }): boolean => BREAK_FILTERS.some((one) => one.name === name)
  for (const path of ['/api/v1/events', '/api/v1/stream'])
    expect(parameters(path).filter(isFilter)).toMatchObject(BREAK_FILTERS)
  expect(parameters('/api/v1/stablecoins')).toMatchObject(
    ['as_of', 'tier', 'symbol', 'currency', 'tracked', 'limit', 'cursor'].map((name) => ({
      name,
      in: 'query',
      required: false,
    })),
  )
  for (const [path, { parameters = [] }] of operations(document))
    expect(parameters.filter((one) => one.in === 'path').map(({ name }) => `{${name}}`)).toEqual(
      path.match(/\{\w+\}/g) ?? [],
    )
})

test('every required parameter has an example, and an operation with a price takes a key or a payment', ({
  document,
}) => {
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, { parameters = [], security, responses }] of Object.entries(item)) {
      const bare = parameters.filter(({ required, example }) => required && example === undefined)
      expect([method, path, bare]).toEqual([method, path, []])
      if ('402' in responses) expect([path, security]).toEqual([path, [{ subscription: [] }, { payment: [] }]])
    }
})

test('a field that may be missing a measurement is described as nullable, all as required', ({ document }) => {
  const peg =
    document.paths['/api/v1/stablecoins/{address}/peg']?.get?.responses['200']?.content?.['application/json']?.schema
  expect(peg?.required).toEqual(['address', 'current', 'quote', 'coverage', 'windows', 'windows_as_of'])
  const window = peg?.properties?.windows?.items
  expect(Object.keys(window?.properties ?? {})).toEqual(window?.required)
  expect(JSON.stringify(window?.properties?.mean_price)).toContain('null')
  expect(JSON.stringify(window?.properties?.sample_count)).not.toContain('null')
})
