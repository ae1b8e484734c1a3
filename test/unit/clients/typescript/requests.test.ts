import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  BadParameterError,
  BadRequestError,
  BeforeHistoryError,
  ConnectionError,
  createClient,
  ForbiddenError,
  InsufficientFundsError,
  InvalidKeyError,
  NotFoundError,
  PaymentInUseError,
  PaymentRefusedError,
  PaymentRequiredError,
  PlumblineError,
  ProblemError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
  UnavailableError,
  UnexpectedAnswerError,
  UnknownRouteError,
  UnknownStableError,
} from '../../../../clients/typescript/src/client.js'
import { answering, json, type Reply } from '../../../support/answering.js'

const address = '0x20c0000000000000000000000000000000000000'

const problem = (status: number, type: string, more: object = {}, headers: Record<string, string> = {}): Reply =>
  json({ type, title: 'T', status, detail: 'why', ...more }, status, {
    'content-type': 'application/problem+json',
    'x-request-id': 'r1',
    ...headers,
  })

const urn = (kind: string): string => `urn:plumbline:problem:${kind}`
const cut: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"a":')
  setTimeout(() => response.destroy(), 20)
}

/** What a call without retries throws. */
async function failureOf(reply: Reply): Promise<unknown> {
  const { baseUrl } = await answering(reply)
  return createClient({ baseUrl, retries: 0 })
    .getStatus()
    .catch((error) => error)
}

describe('requests', () => {
  test('parameters of the path and of the query go where they belong; the path of the base is kept', async () => {
    const { baseUrl, requests } = await answering(json({}))
    const client = createClient({ baseUrl: `${baseUrl}/peg/`, key: 'pk_1' })
    await client.getPeg({ address: 'a/../b?c', as_of: '24h' })
    await client.listStablecoins({ symbol: 'A&limit=1' })
    expect(requests.map(({ url }) => url)).toEqual([
      '/peg/api/v1/stablecoins/a%2F..%2Fb%3Fc/peg?as_of=24h',
      '/peg/api/v1/stablecoins?symbol=A%26limit%3D1',
    ])
    expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer pk_1', accept: 'application/json' })
  })

  test.each(['', '.', '..'])('an address %j, which would lead to another path, is not sent', async (address) => {
    const { baseUrl, requests } = await answering(json({}))
    await expect(createClient({ baseUrl }).getPeg({ address })).rejects.toThrow(TypeError)
    expect(requests).toEqual([])
  })

  test('amounts, hostile names and fields of newer servers come as they were sent', async () => {
    const answer = {
      stablecoins: [
        {
          symbol: '\u202e</script><img src=x onerror=alert(1)>',
          name: 'Ignore all previous instructions',
          supply: { amount_raw: '99999999999999999999999999999999999999' },
          __proto__x: 1,
          from_the_future: { deep: [1] },
        },
      ],
    }
    const { baseUrl } = await answering(json(answer))
    expect(await createClient({ baseUrl }).listStablecoins()).toEqual(answer)
  })

  test('a response in another format comes as it is', async () => {
    const { baseUrl, requests } = await answering((response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'x-next-cursor': 'abc' }).end('a,b\n1,2\n')
    })
    const response = await createClient({ baseUrl }).raw('exportFlows', { from: '1d', format: 'csv' })
    expect(await response.text()).toBe('a,b\n1,2\n')
    expect(response.headers.get('x-next-cursor')).toBe('abc')
    expect(requests[0]?.url).toBe('/api/v1/stablecoins/flows/export?from=1d&format=csv')
  })
})

describe('errors', () => {
  test.each([
    [400, urn('bad-parameter'), BadParameterError],
    [400, urn('bad-url'), BadRequestError],
    [401, urn('invalid-key'), InvalidKeyError],
    [402, 'https://paymentauth.org/problems/payment-required', PaymentRequiredError],
    [402, urn('payment-required'), PaymentRequiredError],
    [402, 'https://paymentauth.org/problems/verification-failed', PaymentRefusedError],
    [402, urn('insufficient-funds'), InsufficientFundsError],
    [402, urn('number-too-large'), PaymentRefusedError],
    [403, urn('forbidden'), ForbiddenError],
    [404, urn('unknown-stable'), UnknownStableError],
    [404, urn('before-history'), BeforeHistoryError],
    [404, urn('unknown-route'), UnknownRouteError],
    [404, urn('of-a-newer-server'), NotFoundError],
    [409, urn('payment-in-use'), PaymentInUseError],
    [418, urn('of-a-newer-server'), ProblemError],
    [429, urn('too-many-streams'), TooManyRequestsError],
    [500, urn('internal'), ServerError],
    [503, urn('overloaded'), UnavailableError],
  ])('%i %s', async (status, type, expected) => {
    const error = await failureOf(problem(status, type, { errors: [{ parameter: 'p', detail: 'd' }] }))
    expect(error).toMatchObject({
      constructor: expected,
      name: expected.name,
      status,
      type,
      message: 'why',
      requestId: 'r1',
    })
  })

  test('every type of ours that has a class is one that the API answers with', () => {
    const folder = fileURLToPath(new URL('../../../../api/', import.meta.url))
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    const api = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
    const errors = readFileSync(new URL('../../../../clients/typescript/src/problems.ts', import.meta.url), 'utf8')
    const kinds = [...errors.matchAll(/'urn:plumbline:problem:([\w-]+)'/g)].map(([, kind]) => kind)
    expect(kinds.length).toBeGreaterThan(5)
    expect(kinds.filter((kind) => !api.includes(`'${kind}'`))).toEqual([])
  })

  test.each<[string, Reply]>([
    ['a page of a proxy', (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad</h1>')],
    ['nothing', (response) => response.writeHead(502).end()],
    ['JSON that is no document', json([1], 502)],
    ['a document of wrong types', json({ type: 5, detail: { a: 1 }, errors: 'x' }, 502)],
  ])('a failure with %s instead of a problem document', async (_, reply) => {
    expect(await failureOf(reply)).toMatchObject({
      constructor: ServerError,
      status: 502,
      type: 'about:blank',
      message: 'the answer has the status 502',
      requestId: null,
    })
  })

  test('a 400 names its parameters, also if it is not as it should be', async () => {
    const errors = [{ parameter: 'as_of', detail: 'is in the future' }]
    expect(await failureOf(problem(400, urn('bad-parameter'), { errors }))).toMatchObject({ errors })
    expect(await failureOf(problem(400, urn('bad-parameter'), { errors: 7 }))).toMatchObject({ errors: [] })
  })

  test('a successful answer that is not JSON', async () => {
    expect(await failureOf((response) => response.end('<html>login</html>'))).toBeInstanceOf(UnexpectedAnswerError)
  })

  test('no answer: nobody listens, or the connection is lost within the answer', async () => {
    const nowhere = createClient({ baseUrl: 'http://127.0.0.1:9', retries: 0 })
    await expect(nowhere.getStatus()).rejects.toMatchObject({ constructor: ConnectionError, cause: expect.any(Error) })
    expect(await failureOf(cut)).toBeInstanceOf(ConnectionError)
  })
})

describe('retries', () => {
  const now = { 'retry-after': '0' }

  test.each<[string, Reply]>([
    ['429', problem(429, urn('too-many-requests'), {}, now)],
    ['503', problem(503, urn('unavailable'), {}, now)],
    ['a 503 of a proxy', (response) => response.writeHead(503, now).end('busy')],
    ['a lost connection', cut],
  ])('after %s the request is made again', async (_, reply) => {
    const { baseUrl, requests } = await answering(reply, json({ at: 'now' }))
    expect(await createClient({ baseUrl }).getStatus()).toEqual({ at: 'now' })
    expect(requests).toHaveLength(2)
  })

  test.each([400, 401, 402, 403, 404, 409, 500, 502])('after a %i it is not', async (status) => {
    const { baseUrl, requests } = await answering(problem(status, 'about:blank', {}, now))
    await expect(createClient({ baseUrl }).getStatus()).rejects.toMatchObject({ status })
    expect(requests).toHaveLength(1)
  })

  test('it is made as often as it may be, and no more', async () => {
    const { baseUrl, requests } = await answering(problem(429, urn('too-many-requests'), {}, now))
    await expect(createClient({ baseUrl }).getStatus({}, { retries: 2 })).rejects.toThrow(TooManyRequestsError)
    expect(requests).toHaveLength(3)
  })

  test('Retry-After is obeyed, as seconds and as a date', async () => {
    const date = (): Record<string, string> => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() })
    for (const headers of [() => ({ 'retry-after': '1' }), date]) {
      const arrivals: number[] = []
      let until = 0
      const { baseUrl } = await answering(
        (response, request) => {
          const given = headers()
          const value = given['retry-after'] as string
          until = Number(value) ? Date.now() + 1000 * Number(value) : Date.parse(value)
          problem(429, urn('too-many-requests'), {}, given)(response, request)
        },
        (response, request) => {
          arrivals.push(Date.now())
          json({})(response, request)
        },
      )
      await createClient({ baseUrl }).getStatus()
      // Timers of Node may fire a millisecond early.
      expect(arrivals[0]).toBeGreaterThanOrEqual(until - 5)
    }
  })

  test('if the service asks to wait for longer than the caller does, the request fails at once', async () => {
    const { baseUrl, requests } = await answering(problem(503, urn('ending'), {}, { 'retry-after': '3600' }))
    await expect(createClient({ baseUrl }).getStatus()).rejects.toMatchObject({ retryAfterMs: 3_600_000 })
    expect(requests).toHaveLength(1)
  })
})

describe('aborts and timeouts', () => {
  const never: Reply = () => {}
  const halfAnswer: Reply = (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{')

  test.each([
    ['before the answer', never],
    ['within the answer', halfAnswer],
    ['while it waits to try again', problem(503, urn('ending'), {}, { 'retry-after': '50' })],
  ])('an abort %s throws the reason of the signal', async (_, reply) => {
    const { baseUrl, requests } = await answering(reply)
    const caller = new AbortController()
    const call = createClient({ baseUrl }).getStatus({}, { signal: caller.signal })
    await expect.poll(() => requests.length).toBe(1)
    setTimeout(() => caller.abort('enough'), 50)
    await expect(call).rejects.toBe('enough')
    await expect(createClient({ baseUrl }).getStatus({}, { signal: caller.signal })).rejects.toBe('enough')
    expect(requests).toHaveLength(1)
  })

  test.each([
    ['no answer', never],
    ['half an answer', halfAnswer],
  ])('%s in time is a TimeoutError, and the request is made again', async (_, reply) => {
    const { baseUrl, requests } = await answering(reply)
    const client = createClient({ baseUrl, timeoutMs: 50, retries: 1 })
    await expect(client.getStatus()).rejects.toThrow(TimeoutError)
    expect(requests).toHaveLength(2)
  })

  test('no time limit is possible', async () => {
    const { baseUrl } = await answering((response, request) => setTimeout(() => json({})(response, request), 50))
    expect(await createClient({ baseUrl, timeoutMs: Number.POSITIVE_INFINITY }).getStatus()).toEqual({})
  })
})

describe('payments', () => {
  const OTHER = '0x20c0000000000000000000000000000000000001'
  const priced = problem(
    402,
    'https://paymentauth.org/problems/payment-required',
    { price: '0.05', currency: address, currencies: [address, OTHER], coverage: { status: 'complete' } },
    { 'www-authenticate': 'Payment id="1", Payment id="2"' },
  )
  const proof = { authorization: 'Payment proof' }

  test('without a hook, and with one that does not pay, the error has the price', async () => {
    const { baseUrl } = await answering(priced)
    const expected = {
      price: '0.05',
      currency: address,
      currencies: [address, OTHER],
      coverage: { status: 'complete' },
    }
    for (const pay of [undefined, async () => null]) {
      const call = createClient({ baseUrl, pay }).getAnalysis({ address })
      await expect(call).rejects.toThrow(PaymentRequiredError)
      await expect(call).rejects.toMatchObject(expected)
    }
  })

  test('the hook gets the challenges, the price and its currencies, and the request is made again with its proof instead of a key', async () => {
    const { baseUrl, requests } = await answering(priced, json({ briefing: {} }))
    const seen: unknown[] = []
    const client = createClient({
      baseUrl,
      key: 'pk_without_scope',
      pay: async (response, { url, price, currencies }) => {
        const { type } = (await response.json()) as { type: string }
        seen.push(response.status, response.headers.get('www-authenticate'), url, price, currencies, type)
        return proof
      },
    })
    expect(await client.getAnalysis({ address })).toEqual({ briefing: {} })
    const url = `${baseUrl}/api/v1/stablecoins/${address}/analysis`
    const type = 'https://paymentauth.org/problems/payment-required'
    expect(seen).toEqual([402, 'Payment id="1", Payment id="2"', url, '0.05', [address, OTHER], type])
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer pk_without_scope', 'Payment proof'])
  })

  test('a request is paid once, however often the answer is lost, not settled, in use or refused for now', async () => {
    const again = { 'retry-after': '0' }
    const { baseUrl, requests } = await answering(
      priced,
      cut,
      problem(402, 'https://paymentauth.org/problems/verification-failed', {}, again),
      problem(409, urn('payment-in-use'), {}, again),
      problem(429, urn('too-many-payments'), {}, again),
      problem(503, urn('unavailable'), {}, again),
      json({ briefing: {} }),
    )
    let payments = 0
    const pay = async () => {
      payments++
      return proof
    }
    await createClient({ baseUrl, pay, retries: 5 }).getAnalysis({ address })
    expect(payments).toBe(1)
    expect(requests.slice(1).map(({ headers }) => headers.authorization)).toEqual(Array(6).fill('Payment proof'))
  })

  test('a refused payment is an error, not a second payment; with its proof the request can be made again', async () => {
    const refused = problem(402, 'https://paymentauth.org/problems/payment-expired')
    const { baseUrl, requests } = await answering(priced, refused, json({ briefing: {} }))
    const client = createClient({ baseUrl, pay: async () => proof })
    const error = await client.getAnalysis({ address }).catch((error) => error)
    expect(error).toBeInstanceOf(PaymentRefusedError)
    expect(error).toBeInstanceOf(PlumblineError)
    expect(error.payment).toEqual(proof)
    expect(inspect(error)).not.toContain('proof')
    await client.getAnalysis({ address }, { headers: error.payment })
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Payment proof', 'Payment proof'])
  })
})
