import { expect, test } from 'vitest'
import { allOf } from '../../../../ingest/sources/multicall.js'

test('a retry only runs what has failed, and results keep their order', async () => {
  const runs = [0, 0, 0]
  const step = allOf(
    runs.map((_, i) => async () => {
      runs[i] = (runs[i] as number) + 1
      if (i === 1 && runs[i] !== 3) throw new Error(`read ${i}`)
      return `${i}`
    }),
  )
  await expect(step()).rejects.toThrow('read 1')
  await expect(step()).rejects.toThrow('read 1')
  expect(await step()).toEqual(['0', '1', '2'])
  expect(runs).toEqual([1, 3, 1])
})

test('a failure is thrown after all other work has finished', async () => {
  let ended = false
  const slow = new Promise<void>((resolve) => setTimeout(resolve, 20)).then(() => {
    ended = true
  })
  await expect(allOf([() => Promise.reject(new Error('at once')), () => slow])()).rejects.toThrow('at once')
  expect(ended).toBe(true)
})
