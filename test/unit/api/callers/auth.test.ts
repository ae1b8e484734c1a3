import { type FastifyBaseLogger, fastify } from 'fastify'
import { pino } from 'pino'
import { test as base, expect } from 'vitest'
import { auth, hasScope } from '../../../../api/callers/auth.js'
import { sendProblem } from '../../../../api/http/problem.js'
import { withKeys } from '../../../support/active-keys.js'

const ADMIN = `ak_${'a'.repeat(43)}`
const PAID = `pk_${'p'.repeat(43)}`
const STREAM = `pk_${'s'.repeat(43)}`
const BARE = `pk_${'b'.repeat(43)}`

async function appWith(adminKey: string | undefined) {
  let log = ''
  const write = (line: string): void => {
    log += line
  }
  const logger: FastifyBaseLogger = pino({ level: 'trace' }, { write })
  const app = fastify({ loggerInstance: logger })
  app.setErrorHandler(sendProblem)
  const used = withKeys(app, [
    { key: PAID, id: 'key_paid', scopes: ['paid'] },
    { key: STREAM, id: 'key_stream', scopes: ['stream'] },
    { key: BARE, id: 'key_bare', scopes: [] },
  ])
  auth(app, adminKey)
  app.get('/who', async ({ caller }) => ({
    ...caller,
    may: (['paid', 'stream'] as const).filter((scope) => hasScope(caller, scope)),
  }))
  app.get('/admin', { config: { tier: 'admin' } }, async () => ({ secret: true }))
  app.get('/health', { config: { always: true } }, async ({ caller }) => caller)
  await app.ready()
  const ask = (url: string, authorization?: string) =>
    app.inject({ url, headers: authorization === undefined ? {} : { authorization } })
  return { ask, used, log: () => log, close: () => app.close() }
}

const test = base.extend<{ api: Awaited<ReturnType<typeof appWith>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  api: async ({}, use) => {
    const api = await appWith(ADMIN)
    await use(api)
    await api.close()
  },
})

test('a key identifies the caller and their access', async ({ api }) => {
  const who = async (authorization?: string) => (await api.ask('/who', authorization)).json()
  expect(await who()).toEqual({ tier: 'free', may: [] })
  for (const payment of ['Payment eyJ9', 'Payment']) expect(await who(payment)).toEqual({ tier: 'free', may: [] })
  expect(await who(`Bearer ${PAID}`)).toMatchObject({ tier: 'subscriber', keyId: 'key_paid', may: ['paid'] })
  expect(await who(`Bearer ${STREAM}`)).toMatchObject({ tier: 'subscriber', may: ['stream'] })
  expect(await who(`Bearer ${BARE}`)).toMatchObject({ tier: 'subscriber', may: [] })
  expect(await who(`bearer   ${ADMIN} `)).toEqual({ tier: 'admin', may: ['paid', 'stream'] })
  expect(api.used).toEqual(['key_paid', 'key_stream', 'key_bare'])
})

test('a route for the operator is 401 without a key and 403 with another', async ({ api }) => {
  for (const [authorization, status, kind, challenge] of [
    [undefined, 401, 'missing-key', 'Bearer realm="plumbline"'],
    ['Payment eyJ9', 401, 'missing-key', 'Bearer realm="plumbline"'],
    ['Payment', 401, 'missing-key', 'Bearer realm="plumbline"'],
    [`Bearer ${ADMIN}x`, 401, 'invalid-key', 'Bearer realm="plumbline", error="invalid_token"'],
    [`Bearer ${PAID}`, 403, 'forbidden', 'Bearer realm="plumbline", error="insufficient_scope"'],
  ] as const) {
    const response = await api.ask('/admin', authorization)
    expect(response.json()).toMatchObject({ status, type: `urn:plumbline:problem:${kind}` })
    expect(response.statusCode).toBe(status)
    expect(response.headers).toMatchObject({ 'www-authenticate': challenge, 'cache-control': 'no-store' })
  }
  expect((await api.ask('/admin', `Bearer ${ADMIN}`)).json()).toEqual({ secret: true })
})

test('without a configured admin key, the operator’s routes are closed', async () => {
  const api = await appWith(undefined)
  for (const key of [ADMIN, '', 'undefined', 'null', PAID])
    expect([401, 403]).toContain((await api.ask('/admin', `Bearer ${key}`)).statusCode)
  await api.close()
})

test.for([
  ['nothing after the scheme', 'Bearer'],
  ['another scheme', `Basic ${PAID}`],
  ['a key without a scheme', PAID],
  ['two keys', `Bearer ${PAID} ${PAID}`],
  ['a list', `Bearer ${PAID},${PAID}`],
  ['a parameter', `Bearer token="${PAID}"`],
  ['bytes beyond ASCII', `Bearer ${Buffer.from('ключ💵').toString('latin1')}`],
  ['SQL', "Bearer ' OR 1=1 --"],
  ['a pattern that could take long to match', `Bearer ${' '.repeat(12_000)}x y`],
  ['a very long key', `Bearer ${'x'.repeat(14_000)}`],
  ['the hash of the key', 'Bearer 0'.padEnd(71, '0')],
  ['the name of a property', 'Bearer __proto__'],
])('%s in the Authorization header is 401', async ([, authorization], { api }) => {
  for (const url of ['/who', '/admin']) expect((await api.ask(url, authorization)).statusCode).toBe(401)
  expect(api.used).toEqual([])
})

test('health answers every caller', async ({ api }) => {
  for (const authorization of ['Bearer wrong', 'Basic x', `Bearer ${PAID}`])
    expect((await api.ask('/health', authorization)).json()).toEqual({ tier: 'free' })
})

test('no key gets into a log or an answer', async ({ api }) => {
  const answers = []
  for (const key of [ADMIN, PAID, `${PAID.slice(0, -1)}x`])
    for (const url of ['/who', '/admin', '/nope']) answers.push(await api.ask(url, `Bearer ${key}`))
  expect(api.log()).toContain('/admin')
  const said = [api.log(), ...answers.map(({ body, headers }) => body + JSON.stringify(headers))].join()
  for (const key of [ADMIN, PAID]) expect(said).not.toContain(key.slice(11))
})
