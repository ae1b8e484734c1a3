import fc, { type Arbitrary } from 'fast-check'
import type { ApiOperation } from '../../api/http/openapi/document.js'

type Schema = { type?: string; enum?: unknown[]; minimum?: number; maximum?: number; pattern?: string }

/** Hostile values for any parameter: a request with one is refused or harmless. */
const NASTY = [
  '',
  ' ',
  "' OR 1=1 --",
  "'; DROP TABLE flows; --",
  '1) UNION ALL SELECT password FROM system.users --',
  '{token: String}',
  '{as_of: DateTime}',
  '\\',
  '\\N',
  '\0',
  '\r\nX-Injected: 1',
  '../../../etc/passwd',
  '..%2f..%2f',
  '/',
  '%',
  '%zz',
  '%2500',
  '\u202e\u0000\ufeff',
  '𝟙𝟚',
  '٣',
  '💥'.repeat(50),
  'a'.repeat(1500),
  '0x',
  `0x${'0'.repeat(40)}`,
  `0x${'g'.repeat(40)}`,
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '-1',
  '1e3',
  '1e308',
  '0x10',
  '1.5',
  '1_000',
  '+1',
  '9'.repeat(20),
  '9'.repeat(400),
  '18446744073709551616',
  '4294967296',
  '2147483648',
  '[object Object]',
  '__proto__',
  'constructor',
  '{"$gt":""}',
  '[]',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '0000-01-01',
  '9999-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
  '1970-01-01',
  '1969-12-31T23:59:59Z',
  '99999999999d',
  '0m',
  '-5m',
  '1h1h',
]

const nasty = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ minLength: 500, maxLength: 1900 }),
)

/** A cursor made of any JSON, so that its contents are tested too. */
const cursor = fc
  .oneof(
    fc.jsonValue(),
    fc.array(fc.oneof(fc.constantFrom(0, 1, -1, 2 ** 32, 2 ** 53, 1e308, 'mild', 'x', null), fc.nat()), {
      minLength: 1,
      maxLength: 5,
    }),
    fc.constantFrom(0xffff_ffff, Number.MAX_SAFE_INTEGER),
  )
  .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'))

/** Valid values of a parameter, by its schema and, if that is not enough, by its name. */
function meant(name: string, schema: Schema, known: Record<string, readonly string[]>): Arbitrary<string> {
  const own = known[name]
  if (name === 'cursor') return cursor
  if (own && own.length > 0) return fc.constantFrom(...own)
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String))
  if (schema.type === 'integer')
    return fc.integer({ min: schema.minimum ?? -(2 ** 53), max: schema.maximum ?? 2 ** 53 }).map(String)
  return schema.pattern === undefined ? fc.string() : fc.stringMatching(new RegExp(schema.pattern))
}

/** A value in a URL, either correctly encoded or as careless clients write it. */
const written = (value: Arbitrary<string>): Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: value.map(encodeURIComponent) },
    { weight: 1, arbitrary: value.map((text) => encodeURI(text).replaceAll('#', '%23')) },
    { weight: 1, arbitrary: fc.constantFrom('%ff', '%c0%af', '%', '%u0041', '%ed%a0%80', '+', '&', '=', ';', '?') },
  )

/**
 * Paths with a query for an operation: every parameter there or not, as it should be or anything else, sometimes twice,
 * as a list or beside one that does not exist. `known` has values that lead to an answer.
 */
export function urlsOf(
  path: string,
  { parameters = [] }: ApiOperation,
  known: Record<string, readonly string[]>,
): Arbitrary<string> {
  const value = ({ name, schema }: { name: string; schema: object }, weight: number) =>
    written(fc.oneof({ weight, arbitrary: meant(name, schema, known) }, { weight: 1, arbitrary: nasty }))
  const inPath = parameters.filter((one) => one.in === 'path')
  const segments = fc.tuple(...inPath.map((one) => value(one, 6)))
  const query = parameters
    .filter((one) => one.in === 'query')
    .map((one) =>
      fc.oneof(
        { weight: one.required ? 1 : 4, arbitrary: fc.constant('') },
        { weight: 12, arbitrary: value(one, 4).map((text) => `${one.name}=${text}`) },
        {
          weight: 1,
          arbitrary: fc.tuple(value(one, 4), value(one, 4)).map(([a, b]) => `${one.name}=${a}&${one.name}=${b}`),
        },
        { weight: 1, arbitrary: value(one, 4).map((text) => `${one.name}[]=${text}`) },
      ),
    )
  const unknown = fc.oneof(
    { weight: 15, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.tuple(written(nasty), written(nasty)).map(([name, text]) => `${name}=${text}`) },
  )
  return fc.tuple(segments, fc.tuple(...query), unknown).map(([values, pairs, extra]) => {
    const filled = values.reduce((url, text, i) => url.replace(`{${inPath[i]?.name}}`, () => text), path)
    const search = [...pairs, extra].filter((pair) => pair !== '').join('&')
    return search === '' ? filled : `${filled}?${search}`
  })
}

const headerText = fc.oneof(
  fc.constantFrom(...NASTY.filter((text) => /^[\x20-\x7e]*$/.test(text))),
  fc.string({ unit: 'binary-ascii', maxLength: 200 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '~')),
)

/** The worst headers a client could send that are still valid HTTP. `key` has access to all routes. */
export const hostileHeaders = (key: string): Arbitrary<Record<string, string>> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant({ authorization: `Bearer ${key}` }) },
    { weight: 1, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: headerText.map((text) => ({ authorization: text })) },
    { weight: 1, arbitrary: headerText.map((text) => ({ authorization: `Bearer ${text}` })) },
    { weight: 1, arbitrary: headerText.map((text) => ({ authorization: `Payment ${text}` })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom(
            'accept',
            'accept-encoding',
            'accept-language',
            'content-type',
            'cookie',
            'forwarded',
            'host',
            'if-modified-since',
            'if-none-match',
            'last-event-id',
            'origin',
            'prefer',
            'range',
            'traceparent',
            'user-agent',
            'x-forwarded-for',
            'x-forwarded-host',
            'x-http-method-override',
            'x-request-id',
          ),
          headerText,
        )
        .map(([name, text]) => ({ authorization: `Bearer ${key}`, [name]: text })),
    },
  )
