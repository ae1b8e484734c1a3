import { expect, test } from 'vitest'
import { z } from 'zod'
import { ConfigError, envInt, envUrl, parseEnv } from '../../../process/environment.js'

const schema = z.object({
  PORT: envInt(0, 65_535).default(3000),
  URL: envUrl('http', 'https'),
  SECRET: z.string().min(20, 'must have 20 characters').optional(),
  LIVE: z.enum(['on', 'off'], 'must be on or off').default('on'),
})

test('an empty variable counts as unset', () => {
  expect(parseEnv(schema, { URL: 'http://x', PORT: '', SECRET: '', LIVE: 'off' })).toEqual({
    URL: 'http://x',
    PORT: 3000,
    LIVE: 'off',
  })
})

test('every bad variable is named at once, and no value is printed', () => {
  const parse = () => parseEnv(schema, { PORT: '99999', URL: 'ftp://host', SECRET: 'hunter2', LIVE: 'maybe' })
  expect(parse).toThrow(ConfigError)
  for (const name of ['PORT', 'URL', 'SECRET', 'LIVE']) expect(parse).toThrow(new RegExp(`^  ${name}: `, 'm'))
  expect(parse).not.toThrow(/hunter2/)
})

test.for(['', '12abc', '1e3', '-1', '3.5', '65536'])('%s is not a port', (PORT) => {
  const parse = () => parseEnv(z.object({ PORT: envInt(0, 65_535) }), { PORT })
  expect(parse).toThrow(/PORT/)
})
