import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { test as base, expect, vi } from 'vitest'
import { signatureHeader } from '../../../../clickhouse/webhooks/signature.js'
import { createListener } from '../../../../jobs/webhooks/listen/listener.js'
import { type Program, startProgram } from '../../../support/webhooks/program.js'

const PROGRAM = fileURLToPath(new URL('../../../../dist/jobs/webhooks/listen/listen-main.js', import.meta.url))
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const DELIVERY = { event: 'peg_break.started', data: { stable: '0x20c0', severity: 'severe' }, delivery_id: 7 }
const BODY = JSON.stringify(DELIVERY)

const test = base.extend<{ listening: (args?: string[], env?: Record<string, string>) => Promise<Program> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  listening: async ({}, use) => {
    const programs: Program[] = []
    await use(async (args = [], env = { WEBHOOK_SECRET: SECRET }) => {
      const command: [string, ...string[]] = [process.execPath, PROGRAM, '--port', '0', ...args]
      const program = await startProgram(command, env, /^listening at (http:\S+)\n/)
      programs.push(program)
      return program
    })
    for (const { end } of programs) await end()
  },
})

const headersOf = (secret: string, at: Date, body = BODY) => ({
  'X-Service-Signature': signatureHeader({ body, secrets: [secret], at }),
  'X-Service-Event': DELIVERY.event,
  'X-Service-Delivery': `${DELIVERY.delivery_id}`,
})
const post = async (url: string, headers: Record<string, string>, body = BODY) =>
  (await fetch(url, { method: 'POST', headers, body })).status

test('a valid delivery is verified, answered and printed; an invalid one is answered with an error that is printed', async ({
  listening,
}) => {
  const { ready: url, lines } = await listening()
  const now = new Date()
  const old = new Date(now.getTime() - 400_000)
  const statuses = [
    await post(url, headersOf(SECRET, now)),
    await post(url, headersOf(SECRET, now)),
    await post(url, headersOf(OTHER_SECRET, now)),
    await post(url, headersOf(SECRET, old)),
    await post(url, headersOf(SECRET, now), BODY.replace('severe', 'mild')),
    await post(url, {}),
    await post(url, { ...headersOf(SECRET, now), 'X-Service-Event': 'peg_break.ended' }),
    await post(url, headersOf(SECRET, now, '[]'), '[]'),
    await post(url, { 'X-Service-Delivery': '\u0085\u009b2J' }),
  ]
  expect(statuses).toEqual([200, 200, 400, 400, 400, 400, 400, 400, 400])
  await vi.waitFor(() => expect(lines()).toHaveLength(statuses.length), { timeout: 60_000 })
  expect(lines().map((line) => line.replace(/^\S+ /, ''))).toEqual([
    '200 delivery 7: peg_break.started {"stable":"0x20c0","severity":"severe"}',
    '200 delivery 7 again: peg_break.started {"stable":"0x20c0","severity":"severe"}',
    '400 delivery 7: the signature is wrong',
    '400 delivery 7: the signature is too old',
    '400 delivery 7: the signature is wrong',
    '400 delivery undefined: the signature is missing',
    '400 delivery 7: the headers do not match delivery 7, peg_break.started',
    '400 delivery 7: the body is not a delivery',
    expect.stringMatching(/^400 delivery [ -~]*: the signature is missing$/),
  ])
})

test('the secret may be an argument, and other paths and methods are refused', async ({ listening }) => {
  const { ready: url } = await listening(['--secret', SECRET, '--path', '/hooks'], {})
  expect(url).toMatch(/\/hooks$/)
  expect(await post(url, headersOf(SECRET, new Date()))).toBe(200)
  expect(await post(`${url}/other`, headersOf(SECRET, new Date()))).toBe(404)
  expect((await fetch(url)).status).toBe(405)
  expect(await post(url, headersOf(SECRET, new Date()), 'x'.repeat(2 ** 20 + 1)).catch(() => 'cut off')).toSatisfy(
    (status) => status === 413 || status === 'cut off',
  )
})

test('it does not start without a secret, and does not print an invalid one', async () => {
  const endOf = async (args: string[]) => {
    const child = spawn(process.execPath, [PROGRAM, '--port', '0', ...args], {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    const [code] = await once(child, 'close')
    return { code, said }
  }
  expect(await endOf([])).toEqual({
    code: 78,
    said: expect.stringContaining('WEBHOOK_SECRET: or --secret is required'),
  })
  const wrong = await endOf(['--secret', 'hunter2'])
  expect(wrong.code).toBe(78)
  expect(wrong.said).toContain('must begin with whsec_')
  expect(wrong.said).not.toContain('hunter2')
})

test('errors are red if the terminal has colours', async () => {
  const lines: string[] = []
  const print = (line: string) => lines.push(line)
  const server = createListener({ secret: SECRET, path: null, print, colours: true, now: () => new Date() })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await post(url, headersOf(SECRET, new Date()))
  await post(url, headersOf(OTHER_SECRET, new Date()))
  server.close()
  server.closeAllConnections()
  expect(lines.map((line) => line.startsWith('\u001b[31m'))).toEqual([false, true])
})
