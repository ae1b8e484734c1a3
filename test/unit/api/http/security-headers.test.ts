import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { securityHeaders } from '../../../../api/http/security-headers.js'

test('answers load nothing and have a fixed content type; a page may have its own rules', async () => {
  const app = fastify()
  securityHeaders(app)
  app.get('/data', async () => ({}))
  const contentSecurityPolicy = { 'default-src': ["'none'"], 'script-src': ["'self'"] }
  app.get('/page', { config: { contentSecurityPolicy } }, async () => '<html>')
  const { headers: data } = await app.inject('/data')
  expect(data).toMatchObject({
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'strict-transport-security': expect.stringMatching(/^max-age=\d{7,}/),
  })
  const { headers: page } = await app.inject('/page')
  expect(page).toMatchObject({
    'content-security-policy': "default-src 'none';script-src 'self'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  })
  const { headers: nothing } = await app.inject('/nope')
  expect(nothing['content-security-policy']).toBe(data['content-security-policy'])
  await app.close()
})
