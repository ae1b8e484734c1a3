import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { signatureHeader, signatureProblem } from '../../../../clickhouse/webhooks/signature.js'
import { requireTool } from '../../../support/tools.js'
import { startProgram } from '../../../support/webhooks/program.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const exampleIn = (path: string): string => join(ROOT, path)

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const data = { stable: '0x20c0', note: 'Bücher € 😀' }
const bodyOf = (delivery_id: number) => JSON.stringify({ event: 'peg_break.started', data, delivery_id })

/** A first build compiles the standard library. */
const BUILD_MS = 1_200_000

async function buildGo(): Promise<[string]> {
  requireTool('go')
  const dir = await mkdtemp(join(tmpdir(), 'plumbline-go-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const program = join(dir, 'verify')
  const env = { ...process.env, GO111MODULE: 'off', CGO_ENABLED: '0' }
  await run('go', ['build', '-o', program, exampleIn('docs/examples/webhooks/verify.go')], { env })
  return [program]
}

/** The command that starts each example: Python and Go from source, TypeScript compiled. */
const LANGUAGES: Record<string, () => Promise<[string, ...string[]]>> = {
  TypeScript: async () => [process.execPath, exampleIn('dist/docs/examples/webhooks/verify.js')],
  Python: async () => {
    requireTool('python3')
    return ['python3', exampleIn('docs/examples/webhooks/verify.py')]
  },
  Go: buildGo,
}

test.for(Object.entries(LANGUAGES).map(([language, build]) => ({ language, build })))(
  'the example in $language accepts what the service signs, and nothing else',
  { timeout: BUILD_MS },
  async ({ build }) => {
    const env = { PATH: process.env.PATH ?? `/usr/bin${delimiter}/bin`, WEBHOOK_SECRET: SECRET, PORT: '0' }
    const receiver = await startProgram(await build(), env, /^listening on port (\d+)\n/)
    onTestFinished(receiver.end)
    const post = async (header: string | null, body: string): Promise<number> => {
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      if (header !== null) headers['x-service-signature'] = header
      return (await fetch(`http://127.0.0.1:${receiver.ready}/`, { method: 'POST', headers, body })).status
    }
    const now = new Date()
    const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
    const sign = (body: string, secrets = [SECRET], at = now) => signatureHeader({ body, secrets, at })

    const believed: Record<string, number> = {
      unchanged: await post(sign(bodyOf(1)), bodyOf(1)),
      'the same delivery again': await post(sign(bodyOf(1)), bodyOf(1)),
      'signed with the new secret and the old one': await post(sign(bodyOf(2), [OTHER_SECRET, SECRET]), bodyOf(2)),
      'signed with the old secret after the new one': await post(sign(bodyOf(3), [SECRET, OTHER_SECRET]), bodyOf(3)),
      'a little while ago': await post(sign(bodyOf(4), [SECRET], after(-120)), bodyOf(4)),
      'with a version to come': await post(`${sign(bodyOf(5))},v2=abc`, bodyOf(5)),
    }
    expect(new Set(Object.values(believed)), JSON.stringify(believed)).toEqual(new Set([204]))

    const [timestamp = '', signature = ''] = sign(bodyOf(6)).split(',')
    const refused: Record<string, number> = {
      'another secret': await post(sign(bodyOf(6), [OTHER_SECRET]), bodyOf(6)),
      'the secret without its prefix': await post(sign(bodyOf(6), [SECRET.replace('whsec_', '')]), bodyOf(6)),
      'another body': await post(sign(bodyOf(6)), bodyOf(7)),
      'a space more': await post(sign(bodyOf(6)), `${bodyOf(6)} `),
      'another time': await post(
        sign(bodyOf(6)).replace(/^t=\d+/, `t=${Math.floor(after(60).getTime() / 1000)}`),
        bodyOf(6),
      ),
      'long ago': await post(sign(bodyOf(6), [SECRET], after(-3600)), bodyOf(6)),
      'far ahead': await post(sign(bodyOf(6), [SECRET], after(3600)), bodyOf(6)),
      'no signature': await post(null, bodyOf(6)),
      'an empty one': await post('', bodyOf(6)),
      'no v1': await post(timestamp, bodyOf(6)),
      'no t': await post(signature, bodyOf(6)),
      'a cut one': await post(sign(bodyOf(6)).slice(0, -2), bodyOf(6)),
      'another version’s': await post(sign(bodyOf(6)).replace('v1=', 'v0='), bodyOf(6)),
      'a time that is not a number': await post(`t=now,${signature}`, bodyOf(6)),
      'an endless time': await post(`t=${'9'.repeat(400)},${signature}`, bodyOf(6)),
    }
    expect(new Set(Object.values(refused)), JSON.stringify(refused)).toEqual(new Set([400]))

    // Each is processed once, in any order.
    await expect.poll(() => receiver.lines().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(5)
    const lines = receiver.lines().map((line) => /^delivery (\d): peg_break.started (.+)$/.exec(line))
    expect(lines.map((line) => Number(line?.[1])).toSorted()).toEqual([1, 2, 3, 4, 5])
    for (const line of lines) expect(JSON.parse(line?.[2] ?? '')).toEqual(data)
  },
)

const PYTHON_SIGNATURE = `
import hashlib, hmac, sys
secret, timestamp, body = sys.argv[1:]
print(hmac.new(secret.encode(), (timestamp + "." + body).encode(), hashlib.sha256).hexdigest())
`

test('Python and the service compute the same signature, and the service accepts Python’s', async () => {
  requireTool('python3')
  const at = new Date()
  const timestamp = `${Math.floor(at.getTime() / 1000)}`
  for (const body of [bodyOf(1), '{}', '', JSON.stringify({ data: '€'.repeat(10_000) })]) {
    const { stdout } = await run('python3', ['-c', PYTHON_SIGNATURE, SECRET, timestamp, body])
    const header = `t=${timestamp},v1=${stdout.trim()}`
    expect(signatureHeader({ body, secrets: [SECRET], at })).toBe(header)
    expect(signatureProblem({ header, body, secret: SECRET, now: at })).toBeNull()
    expect(signatureProblem({ header, body, secret: OTHER_SECRET, now: at })).toBe('wrong')
  }
})
