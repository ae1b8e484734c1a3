import { expect, test } from 'vitest'
import { signatureHeader, signatureProblem } from '../../../../clickhouse/webhooks/signature.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const SECONDS = 1_784_563_200
const at = new Date(SECONDS * 1000 + 999)
const body = '{"event":"peg_break.started","data":{"max_deviation_bps":63.5},"delivery_id":7}'
/** By `printf '%s' "$SECONDS.$body" | openssl dgst -sha256 -hmac "$SECRET"`. */
const SIGNATURE = '4ee65493e8cc2003ddfb453cafab88d8eed49fc4b8732ce512db292d9ea777c7'
const OTHER_SIGNATURE = '0d45857d8b5961833db7eb1321ad8f0f244027337f7e8d99a1531523cc80a84e'
const HEADER = `t=${SECONDS},v1=${SIGNATURE}`

const problem = (changes: Partial<Parameters<typeof signatureProblem>[0]> = {}) =>
  signatureProblem({ header: HEADER, body, secret: SECRET, now: at, ...changes })

test('a signature equals the one that openssl computes over the time, a dot and the body', () => {
  expect(signatureHeader({ body, secrets: [SECRET], at })).toBe(HEADER)
  expect(signatureHeader({ body: Buffer.from(body), secrets: [SECRET], at })).toBe(HEADER)
  expect(problem()).toBeNull()
  expect(problem({ body: Buffer.from(body) })).toBeNull()
})

test('during a rotation both secrets sign, and either signature is accepted', () => {
  const header = signatureHeader({ body, secrets: [SECRET, OTHER_SECRET], at })
  expect(header).toBe(`${HEADER},v1=${OTHER_SIGNATURE}`)
  for (const secret of [SECRET, OTHER_SECRET]) expect(problem({ header, secret })).toBeNull()
  expect(problem({ header, secret: `${SECRET}A` })).toBe('wrong')
})

test('any added or removed byte invalidates the signature', () => {
  expect(problem({ body: `${body} ` })).toBe('wrong')
  expect(problem({ body: body.replace('63.5', '63.6') })).toBe('wrong')
  expect(problem({ header: HEADER.replace(`${SECONDS}`, `${SECONDS + 1}`) })).toBe('wrong')
  expect(problem({ header: HEADER.replace('4ee', '4ef') })).toBe('wrong')
  expect(problem({ secret: SECRET.replace('whsec_', '') })).toBe('wrong')
})

test('the body is signed in UTF-8, byte for byte', () => {
  const text = '{"label":"Bücher €"}'
  const header = signatureHeader({ body: text, secrets: [SECRET], at })
  expect(signatureHeader({ body: Buffer.from(text, 'utf8'), secrets: [SECRET], at })).toBe(header)
  expect(problem({ header, body: Buffer.from(text, 'latin1') })).toBe('wrong')
})

test('a signature more than 300 seconds from now is rejected', () => {
  const after = (seconds: number) => problem({ now: new Date((SECONDS + seconds) * 1000) })
  expect([after(300), after(301), after(-300), after(-301)]).toEqual([null, 'too old', null, 'from the future'])
})

test.for([
  ['', 'malformed'],
  ['t=', 'malformed'],
  [`t=${SECONDS}`, 'malformed'],
  [`v1=${SIGNATURE}`, 'malformed'],
  [`t=${SECONDS},v1=`, 'malformed'],
  [`t=${SECONDS},v1=${SIGNATURE.slice(2)}`, 'malformed'],
  [`t=${SECONDS},v1=${SIGNATURE}00`, 'malformed'],
  [`t=${SECONDS},v1=${SIGNATURE.toUpperCase()}`, 'malformed'],
  [`t=${SECONDS},t=${SECONDS},v1=${SIGNATURE}`, 'malformed'],
  [`t=${SECONDS}.0,v1=${SIGNATURE}`, 'malformed'],
  [`t=1e99,v1=${SIGNATURE}`, 'malformed'],
  [`t=NaN,v1=${SIGNATURE}`, 'malformed'],
  [`t=${SECONDS},v0=${SIGNATURE}`, 'malformed'],
  [`t=${SECONDS},v1=${'g'.repeat(64)}`, 'malformed'],
  [SIGNATURE, 'malformed'],
])('the header %s is %s', ([header, expected]) => {
  expect(problem({ header })).toBe(expected)
})

test('a missing signature and a wrong one give different errors, and a newer version beside v1 is ignored', () => {
  expect(problem({ header: undefined })).toBe('missing')
  expect(problem({ header: `t=${SECONDS}, v2=abc, v1=${SIGNATURE}` })).toBeNull()
})
