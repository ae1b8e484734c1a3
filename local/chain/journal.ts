import { type FileHandle, mkdir, open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { z } from 'zod'

/**
 * A block before it is mined: all that is needed to mine it again with the same hash. `parent` is the hash of the
 * previous block, so the last line verifies all earlier blocks. If the block also received transactions of others, a
 * second line with the same number holds all its transactions and replaces the first.
 */
const JournalBlock = z.object({
  number: z.int(),
  timestamp: z.int(),
  parent: z.string(),
  raws: z.array(z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'))),
  /** Some transactions are not the market's. Their gas prices do not fix the order, so they must be sent one by one. */
  hasOthers: z.boolean().optional(),
  /** It also has transactions whose bytes are unknown, so it cannot be mined again: a checkpoint holds its state. */
  isPartial: z.boolean().optional(),
})
export type JournalBlock = z.infer<typeof JournalBlock>

export type Journal = {
  /** Appends a block. With `sync`, it is on disk when this resolves. */
  append: (block: JournalBlock, options: { sync: boolean }) => Promise<void>
  /** Starts a new file with the next block, and removes the files that hold only blocks up to `upTo`. */
  rotate: (upTo: number) => Promise<void>
  sync: () => Promise<void>
  close: () => Promise<void>
}

/**
 * Opens the journal in `dir` for appending, or creates it. It consists of files with one JSON line per block, each
 * named after its first block.
 */
export async function openJournal(dir: string): Promise<Journal> {
  await mkdir(dir, { recursive: true })
  let file: FileHandle | null = null
  const newest = (await firstBlocks(dir)).at(-1)
  if (newest !== undefined) file = await open(segment(dir, newest), 'a')
  const sync = async (): Promise<void> => file?.datasync()
  const close = async (): Promise<void> => file?.close()
  return {
    append: async (block, options) => {
      file ??= await open(segment(dir, block.number), 'a')
      await file.appendFile(`${JSON.stringify(block)}\n`)
      if (options.sync) await file.datasync()
    },
    rotate: async (upTo) => {
      await sync()
      await close()
      file = null
      const firsts = await firstBlocks(dir)
      for (const [i, first] of firsts.entries()) {
        const next = firsts[i + 1]
        if (next !== undefined && next <= upTo + 1) await rm(segment(dir, first))
      }
    },
    sync,
    close,
  }
}

/**
 * The blocks of the journal in `dir` after block `after`, oldest first. A truncated last line is also removed from its
 * file: the machine died while writing it, so its block was never mined. Throws if a line is unreadable, or if a block is
 * missing or partial.
 */
export async function readJournal(dir: string, after: number): Promise<JournalBlock[]> {
  const blocks: JournalBlock[] = []
  const firsts = await firstBlocks(dir)
  for (const [i, first] of firsts.entries()) {
    const next = firsts[i + 1]
    if (next !== undefined && next <= after + 1) continue
    for (const block of await readSegment(segment(dir, first))) if (block.number > after) blocks.push(block)
  }
  // A map keeps the position of the first line and the value of the last.
  const whole = [...new Map(blocks.map((block) => [block.number, block])).values()]
  whole.forEach((block, i) => {
    if (block.number !== after + 1 + i) throw new Error(`the journal is missing block ${after + 1 + i}`)
    if (block.isPartial) throw new Error(`the journal does not have all transactions of block ${block.number}`)
  })
  return whole
}

async function readSegment(path: string): Promise<JournalBlock[]> {
  const text = await readFile(path, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole))
  return whole
    .split('\n')
    .slice(0, -1)
    .map((line) => JournalBlock.parse(JSON.parse(line)))
}

const segment = (dir: string, first: number): string => join(dir, `${first}.jsonl`)

async function firstBlocks(dir: string): Promise<number[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .flatMap((name) => /^(\d+)\.jsonl$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}
