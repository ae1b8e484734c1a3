import { writeFile } from 'node:fs/promises'
import type { LightMyRequestResponse } from 'fastify'
import { test as base, expect } from 'vitest'
import { operationsOf } from '../../../../api/http/openapi/document.js'
import { EXAMPLES_DIR, type RecordedAnswers, recordedAnswers } from '../../../../api/http/openapi/examples.js'
import { ADMIN_KEY } from '../../../support/app.js'
import { appWithoutClickhouse } from '../../../support/documented.js'
import { type DocumentedRequest, documentedRequests } from '../../../support/documented-requests.js'
import { type Market, withMarket } from '../../../support/market.js'
import { answerChecker } from '../../../support/openapi-check.js'

/**
 * `npm run examples` writes the answers into the repository; otherwise they are only compared with the recorded ones.
 */
const IS_RECORDING = process.env.RECORD_EXAMPLES === 'yes'

/** Long enough to show the shape of a list. */
const SHOWN = 3

const test = base.extend<{ market: Market }>({
  market: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withMarket({ historyBlocks: 300, blockSeconds: 480, stables: 9, seed: 2 }, use),
    { scope: 'file' },
  ],
})

const mediaTypeOf = (response: LightMyRequestResponse): string =>
  `${response.headers['content-type']}`.split(';', 1)[0] as string

/** An answer with the beginning of its lists. */
function shortened(value: unknown): unknown {
  // Secrets that were only ever valid in the database of this test.
  if (typeof value === 'string')
    return value.replace(/^pk_.{20,}$/, `pk_${'x'.repeat(43)}`).replace(/^whsec_.{20,}$/, `whsec_${'x'.repeat(32)}`)
  if (Array.isArray(value)) return value.slice(0, SHOWN).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shortened(field)]))
}

function exampleOf(response: LightMyRequestResponse): unknown {
  if (/[/+]json$/.test(mediaTypeOf(response))) return shortened(response.json())
  return `${response.body.split('\n').slice(0, SHOWN).join('\n')}\n`
}

/** Requests that no route answers, or with an invalid key. */
const REFUSED: Omit<DocumentedRequest, 'status'>[] = [
  { method: 'GET', url: '/api/v1/stablecoins', headers: { authorization: 'Bearer mistyped' } },
  { method: 'GET', url: '/api/v1/stablecoin', headers: {} },
  { method: 'POST', url: '/api/v1/stablecoins', headers: {} },
  { method: 'GET', url: `/api/v1/stablecoins?as_of=${'0'.repeat(2048)}`, headers: {} },
]

const ask = (app: Market['app'], { method, ...request }: Omit<DocumentedRequest, 'status'>) =>
  app.inject({ method: method.toUpperCase() as 'GET', ...request })

test('every answer about a whole market matches the document, and is an example in it', async ({ market }) => {
  const { app, document } = market
  const cutOff = await appWithoutClickhouse({ adminKey: ADMIN_KEY })
  const checker = answerChecker(document)
  const answers: RecordedAnswers = {}
  const keep = (name: string, response: LightMyRequestResponse) => {
    const status = `${response.statusCode}`
    const type = mediaTypeOf(response)
    const example = exampleOf(response)
    const earlier = answers[name]?.[status]?.[type]
    // Of several answers, the one with the most content.
    if (earlier !== undefined && JSON.stringify(example).length <= JSON.stringify(earlier).length) return
    answers[name] = { ...answers[name], [status]: { ...answers[name]?.[status], [type]: example } }
  }

  for (const place of operationsOf(document)) {
    const { operation } = place
    const requests = documentedRequests(place, market)
    // A stream has no single answer to request here, but fails like the others.
    const live = requests.find(({ status }) => status < 300) ?? { method: place.method, url: place.path, headers: {} }
    const headers = new Map<number, Set<string>>()
    for (const request of requests) {
      const response = await ask(app, request)
      expect.soft([request.url, response.statusCode]).toEqual([request.url, request.status])
      const { statusCode: status, body } = response
      const fault = checker.faultOf(operation, { status, contentType: mediaTypeOf(response), body })
      expect.soft([request.url, fault]).toEqual([request.url, null])
      if (status === request.status) keep(operation.operationId, response)
      headers.set(status, new Set([...(headers.get(status) ?? []), ...Object.keys(response.headers)]))
    }
    for (const [status, seen] of headers) {
      const described = operation.responses[status]
      const { headers: common = {} } = document.components
      const named = (described && 'headers' in described ? Object.keys(described.headers ?? {}) : []).filter(
        (name) => !('required' in (common[name] ?? {})),
      )
      expect
        .soft([operation.operationId, [...seen]])
        .toEqual([operation.operationId, expect.arrayContaining(named.map((name) => name.toLowerCase()))])
    }
    if (operation.responses['503']) keep(operation.operationId, await ask(cutOff, live))
  }
  for (const request of REFUSED) keep('problems', await ask(app, request))
  const limited = await appWithoutClickhouse({ limits: { free: 1, key: 1 } })
  const often = { method: 'GET', url: '/api/v1/stablecoins', headers: {} }
  await ask(limited, often)
  keep('problems', await ask(limited, often))
  await limited.close()
  await cutOff.close()

  if (IS_RECORDING)
    for (const [name, answer] of Object.entries(answers))
      await writeFile(new URL(`${name}.json`, EXAMPLES_DIR), `${JSON.stringify(answer, null, 2)}\n`)

  const kinds = ({ payments: _, ...recorded }: RecordedAnswers) =>
    Object.entries(recorded)
      .flatMap(([name, byStatus]) =>
        Object.entries(byStatus).flatMap(([status, byType]) =>
          Object.keys(byType).map((type) => `${name} ${status} ${type}`),
        ),
      )
      .sort()
  expect(kinds(recordedAnswers()), 'npm run examples records them again').toEqual(kinds(answers))
})
