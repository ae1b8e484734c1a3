import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { test as base, expect } from 'vitest'
import { operationsOf } from '../../../../api/http/openapi/document.js'
import { ADMIN_KEY, SUBSCRIPTION_KEY } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { type Body, bodiesOf, garbageBodies } from '../../../support/hostile-bodies.js'
import { hostileHeaders, urlsOf } from '../../../support/hostile-requests.js'
import { httpClient } from '../../../support/http.js'
import { type Market, SPARE_KEY_ID, withMarket } from '../../../support/market.js'
import { WEBHOOK_IDS } from '../../../support/market-webhooks.js'
import { answerChecker } from '../../../support/openapi-check.js'

/** Requests for each operation; FUZZ_RUNS=2000 FUZZ_SEED=7 for a long run. */
const RUNS = depth('FUZZ_RUNS', 25, 2_000)
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_714)

type Http = ReturnType<typeof httpClient>

const test = base.extend<{ market: Market; http: Http }>({
  market: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withMarket({ historyBlocks: 60, blockSeconds: 300, stables: 9, seed: 3 }, use),
    { scope: 'file' },
  ],
  http: [
    async ({ market: { app } }, use) => {
      await app.listen({ port: 0, host: '127.0.0.1' })
      const client = httpClient((app.server.address() as AddressInfo).port)
      await use(client)
      client.close()
    },
    { scope: 'file' },
  ],
})

/** Valid values of parameters. */
const knownValues = ({ plan, start, end }: Market): Record<string, string[]> => {
  const instants = [`${start}`, `${end}`, `${end - 3600}`, '1h', '30m', new Date((end - 60) * 1000).toISOString()]
  return {
    address: plan.stables.map(({ address }) => address),
    as_of: instants,
    from: instants,
    to: instants,
    id: [SPARE_KEY_ID, ...Object.values(WEBHOOK_IDS), 'none'],
    delivery_id: ['1', '2', '99'],
  }
}

/** The same requests in every run, unless another seed is set. */
const RUN = { seed: SEED, numRuns: RUNS }

/** Whether a URL matches a path of the document. */
const isPathOf = (path: string, url: string): boolean =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}/?(\\?|$)`).test(url)

const headersOf = ({ type, text }: Body): Record<string, string> => ({
  'content-type': type,
  'content-length': `${Buffer.byteLength(text)}`,
})

test('every request gets an answer that the document describes, and never a failure', {
  timeout: 3_600_000,
}, async ({ market, http }) => {
  const checker = answerChecker(market.document)
  const known = knownValues(market)
  const seen = new Map<number, number>()
  // An object that is deleted first could not be requested any more.
  const deletesLast = operationsOf(market.document).sort(
    (a, b) => Number(a.method === 'delete') - Number(b.method === 'delete'),
  )
  for (const { path, method, operation } of deletesLast) {
    const hasBody = operation.requestBody !== undefined
    const property = fc.asyncProperty(
      urlsOf(path, operation, known),
      hostileHeaders(path.startsWith('/api/admin/') ? ADMIN_KEY : SUBSCRIPTION_KEY),
      bodiesOf(operation),
      async (url, headers, body) => {
        const answer = hasBody
          ? await http.ask(url, { ...headers, ...headersOf(body) }, method.toUpperCase(), body.text)
          : await http.ask(url, headers, method.toUpperCase())
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        expect(answer.status).toBeLessThan(500)
        // A hostile path may match another route: then this operation does not describe it.
        if (answer.status < 400 && !isPathOf(path, url)) return
        expect(checker.faultOf(operation, answer)).toBeNull()
      },
    )
    await fc.assert(property, RUN)
  }
  console.log(`answers by status: ${JSON.stringify(Object.fromEntries([...seen].sort()))}`)
  expect(seen.get(200), 'enough of them are answered').toBeGreaterThan(RUNS)
  expect(seen.get(400), 'enough of them are refused').toBeGreaterThan(RUNS)
})

test('a method that a path does not have is refused, whatever is sent', { timeout: 3_600_000 }, async ({
  market,
  http,
}) => {
  const checker = answerChecker(market.document)
  const places = operationsOf(market.document)
  const known = knownValues(market)
  const described = new Set(places.map(({ path, method }) => `${method.toUpperCase()} ${path}`))
  const requests = fc
    .tuple(fc.constantFrom(...places), fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'))
    .filter(([{ path }, method]) => !described.has(`${method} ${path}`))
    .chain(([{ path, operation }, method]) =>
      fc.record({
        method: fc.constant(method),
        url: urlsOf(path, operation, known),
        body: garbageBodies,
      }),
    )
  const property = fc.asyncProperty(requests, async ({ method, url, body }) => {
    // A value that contains ? ends the path, which may then match another operation.
    fc.pre(!places.some((place) => place.method.toUpperCase() === method && isPathOf(place.path, url)))
    const answer = await http.ask(url, headersOf(body), method, body.text)
    expect([400, 404, 405, 413, 414]).toContain(answer.status)
    expect(checker.faultOfProblem(answer)).toBeNull()
  })
  await fc.assert(property, RUN)
})
