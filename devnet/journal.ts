import { type FileHandle, open, readFile, truncate } from 'node:fs/promises'
import type { Hex } from 'viem'
import { z } from 'zod'

/**
 * One block as it was about to be mined: enough to mine it again, with the same hash. `parent` is the hash of the block
 * before, so that the last line vouches for all blocks before it.
 */
const JournalBlock = z.object({
  number: z.int(),
  timestamp: z.int(),
  parent: z.string(),
  raws: z.array(z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'))),
})
export type JournalBlock = z.infer<typeof JournalBlock>

export type Journal = {
  /** Writes a block down. With `sync`, it is on the disk when this returns. */
  append: (block: JournalBlock, options: { sync: boolean }) => Promise<void>
  sync: () => Promise<void>
  close: () => Promise<void>
}

/** Opens a journal for appending; creates it where there is none. */
export async function openJournal(path: string): Promise<Journal> {
  const file: FileHandle = await open(path, 'a')
  return {
    append: async (block, { sync }) => {
      await file.appendFile(`${JSON.stringify(block)}\n`)
      if (sync) await file.datasync()
    },
    sync: () => file.datasync(),
    close: () => file.close(),
  }
}

/**
 * The blocks of a journal, oldest first; empty where there is none. A last line that was cut off (the machine died while
 * it was written, so its block was never mined) is dropped from the file too. Any other unreadable line throws.
 */
export async function readJournal(path: string): Promise<JournalBlock[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole))
  return whole
    .split('\n')
    .slice(0, -1)
    .map((line) => JournalBlock.parse(JSON.parse(line)))
}
