import { expect, test } from 'vitest'
import { z } from 'zod'
import { versionOf } from '../../../../../api/answers/cache/plugin.js'

test('only answers with the same formulas and the same shape are shared', () => {
  const shape = () => ({ 200: z.object({ price: z.number() }) })
  const versions = [
    versionOf('1', shape()),
    versionOf('2', shape()),
    versionOf('1', { 200: z.object({ price: z.string() }) }),
    versionOf('1', {}),
  ]
  expect(new Set(versions).size).toBe(4)
  expect(versionOf('1', shape())).toBe(versions[0])
})
