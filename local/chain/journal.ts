import { type FileHandle, mkdir, open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { z } from 'zod'

/**
 * One block as it was about to be mined: enough to mine it again, with the same hash. `parent` is the hash of the block
 * before, so that the last line vouches for all blocks before it. Where others had transactions in it, a second line of
 * its number has them all, and counts.
 */
const JournalBlock = z.object({
  number: z.int(),
  timestamp: z.int(),
  parent: z.string(),
  raws: z.array(z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'))),
  /** Some are not the market's, whose prices fix its order: these have to come to the node one after the other. */
  hasOthers: z.boolean().optional(),
})
export type JournalBlock = z.infer<typeof JournalBlock>

export type Journal = {
  /** Writes a block down. With `sync`, it is on the disk when this returns. */
  append: (block: JournalBlock, options: { sync: boolean }) => Promise<void>
  /** Starts a new file with the next block, and drops the files that hold only blocks up to `upTo`. */
  rotate: (upTo: number) => Promise<void>
  sync: () => Promise<void>
  close: () => Promise<void>
}

/**
 * Opens the journal in `dir` for appending; creates it where there is none. It is a row of files of one JSON line a
 * block, each named after its first block.
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
 * The blocks of the journal in `dir` after block `after`, oldest first. A last line that was cut off (the machine died
 * while it was written, so its block was never mined) is dropped from its file too. Throws where a line is unreadable or
 * a block is missing in between.
 */
export async function readJournal(dir: string, after: number): Promise<JournalBlock[]> {
  const blocks: JournalBlock[] = []
  const firsts = await firstBlocks(dir)
  for (const [i, first] of firsts.entries()) {
    const next = firsts[i + 1]
    if (next !== undefined && next <= after + 1) continue
    for (const block of await readSegment(segment(dir, first))) if (block.number > after) blocks.push(block)
  }
  // A map keeps the place of the line that came first, and the value of the last.
  const whole = [...new Map(blocks.map((block) => [block.number, block])).values()]
  whole.forEach((block, i) => {
    if (block.number !== after + 1 + i) throw new Error(`the journal lacks block ${after + 1 + i}`)
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
