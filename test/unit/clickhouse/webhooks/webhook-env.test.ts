import { expect, test } from 'vitest'
import { z } from 'zod'
import { targetRules, urlProblem, WEBHOOK_SITE_URL, webhookEnv } from '../../../../clickhouse/webhooks/targets.js'
import { parseEnv } from '../../../../process/environment.js'

const rulesOf = (env: Record<string, string>) => targetRules(parseEnv(z.object(webhookEnv), env))

test('by default, webhooks may only be sent to public addresses on ports 80 and 443', () => {
  expect(rulesOf({})).toEqual({ networks: [], ports: [80, 443] })
})

test('networks and ports are lists', () => {
  const rules = rulesOf({ WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, ::1', WEBHOOK_ALLOWED_PORTS: '8080, 443' })
  expect(urlProblem('http://10.2.3.4:8080/', rules)).toBeNull()
  expect(urlProblem('https://[::1]/', rules)).toBeNull()
  expect(urlProblem('https://10.2.3.4:8443/', rules)).toBe('port not allowed')
  expect(rulesOf({ WEBHOOK_ALLOWED_PORTS: 'any' }).ports).toBe('any')
})

test.for([
  ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/40'],
  ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/8,,::1'],
  ['WEBHOOK_ALLOWED_NETWORKS', 'localhost'],
  ['WEBHOOK_ALLOWED_PORTS', '0'],
  ['WEBHOOK_ALLOWED_PORTS', '65536'],
  ['WEBHOOK_ALLOWED_PORTS', '80,'],
  ['WEBHOOK_ALLOWED_PORTS', 'all'],
] as const)('%s=%s is refused', ([name, value]) => {
  expect(() => rulesOf({ [name]: value })).toThrow(new RegExp(`${name}: `))
})

test('the URL of the service must be valid in a header', () => {
  const siteOf = (env: Record<string, string>) => parseEnv(z.object({ WEBHOOK_SITE_URL }), env).WEBHOOK_SITE_URL
  expect(siteOf({})).toBe('http://localhost:3000/')
  expect(siteOf({ WEBHOOK_SITE_URL: 'https://bücher.example/über uns' })).toMatch(/^https:\/\/xn--[!-~]+$/)
})
