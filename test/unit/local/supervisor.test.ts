import { expect, test } from 'vitest'
import { headline } from '../../../local/supervisor.js'

test('the terminal shows warnings with their reason and plain text, and no other log records', () => {
  expect(headline('{"level":30,"msg":"written"}')).toBeNull()
  expect(headline('{"level":40,"msg":"read the head failed","reason":"fetch failed"}')).toBe(
    'read the head failed: fetch failed',
  )
  expect(headline('ingest stops: bad configuration')).toBe('ingest stops: bad configuration')
  expect(headline('  ')).toBeNull()
})
