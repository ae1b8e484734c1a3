import { expect, test } from 'vitest'
import { openFilesProblem } from '../../../process/open-files.js'

const limits = (soft: string): string => `Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max open files            ${soft.padEnd(21)}4096                 files
Max locked memory         8388608              8388608              bytes
`

test('a limit of open files that is too small for the streams is named at the start', () => {
  expect(openFilesProblem(1000, () => limits('1024'))).toBe(
    'at most 1024 files may be open, and 1000 streams need 2024: raise ulimit -n, or lower STREAM_CONNECTIONS',
  )
  expect(openFilesProblem(1000, () => limits('2024'))).toBeNull()
  expect(openFilesProblem(1000, () => limits('unlimited'))).toBeNull()
})

test('a system without such limits is no problem', () => {
  const missing = (): string => {
    throw new Error('ENOENT')
  }
  expect(openFilesProblem(1000, missing)).toBeNull()
})
