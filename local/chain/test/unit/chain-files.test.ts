import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isCheckpointDue } from '../../checkpoints.js'
import { openJournal, readJournal } from '../../journal.js'
import { limitStates } from '../../limit-states.js'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'plumbline-devnet-'))
})
afterEach(() => rm(dir, { recursive: true }))

const block = (number: number) => ({
  number,
  timestamp: number * 60,
  parent: `0x${number - 1}`,
  raws: ['0x01'] as const,
})

async function write(from: number, to: number): Promise<void> {
  const journal = await openJournal(dir)
  for (let number = from; number <= to; number++)
    await journal.append({ ...block(number), raws: ['0x01'] }, { sync: false })
  await journal.close()
}

test('a journal returns the blocks after a given one, and can be appended to after a restart', async () => {
  expect(await readJournal(dir, 0)).toEqual([])
  await write(1, 3)
  await write(4, 5)
  expect((await readJournal(dir, 0)).map((b) => b.number)).toEqual([1, 2, 3, 4, 5])
  expect(await readJournal(dir, 3)).toEqual([block(4), block(5)])
})

test('a truncated line is removed and written again', async () => {
  await write(1, 2)
  await appendFile(join(dir, '1.jsonl'), '{"number":3,"times')
  expect((await readJournal(dir, 0)).map((b) => b.number)).toEqual([1, 2])
  await write(3, 3)
  expect((await readJournal(dir, 0)).map((b) => b.number)).toEqual([1, 2, 3])
})

test('a damaged line or a missing block is an error', async () => {
  await write(1, 2)
  await write(4, 4)
  await expect(readJournal(dir, 0)).rejects.toThrow('missing block 3')
  await appendFile(join(dir, '1.jsonl'), 'nonsense\n')
  await expect(readJournal(dir, 0)).rejects.toThrow()
})

test('rotation removes the files that the oldest checkpoint replaces', async () => {
  const journal = await openJournal(dir)
  for (const number of [1, 2, 3, 4, 5, 6]) {
    await journal.append({ ...block(number), raws: [] }, { sync: false })
    if (number === 2) await journal.rotate(0)
    if (number === 4) await journal.rotate(2)
  }
  await journal.close()
  expect((await readdir(dir)).sort()).toEqual(['3.jsonl', '5.jsonl'])
  expect((await readJournal(dir, 2)).map((b) => b.number)).toEqual([3, 4, 5, 6])
})

test('checkpoints become less frequent as the chain grows, down to one per hour of live blocks', () => {
  expect(isCheckpointDue(999, 0, 1000)).toBe(false)
  expect(isCheckpointDue(1000, 0, 1000)).toBe(true)
  expect(isCheckpointDue(17_900, 16_000, 1000)).toBe(false)
  expect(isCheckpointDue(18_500, 16_000, 1000)).toBe(true)
  expect(isCheckpointDue(103_600, 100_000, 1000)).toBe(true)
})

test('the oldest states are removed until the rest fits', async () => {
  for (const name of ['a', 'b', 'c', 'd']) {
    await writeFile(join(dir, name), Buffer.alloc(100))
    await new Promise((settle) => setTimeout(settle, 5))
  }
  expect(await limitStates(dir, 250)).toBe(2)
  expect((await readdir(dir)).sort()).toEqual(['c', 'd'])
  expect(await limitStates(dir, 250)).toBe(0)
  expect(await limitStates(join(dir, 'nowhere'), 250)).toBe(0)
})
