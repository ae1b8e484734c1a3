import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { z } from 'zod'
import { writeDurably } from './durable-file.js'
import type { Rpc } from './rpc.js'

const KEPT = 2
/** Most blocks between checkpoints, so that a restart never replays more than two hours of live blocks. */
const MAX_INTERVAL = 3_600
const Dump = z.string().startsWith('0x')

/**
 * Whether a checkpoint is due at `head`: `every` blocks after the newest one, and less often as the chain grows,
 * because each checkpoint holds the whole state.
 */
export function isCheckpointDue(head: number, newest: number, every: number): boolean {
  return head - newest >= Math.max(every, Math.min(MAX_INTERVAL, Math.floor(head / 8)))
}

/**
 * Saves the node's state at block `head`, without the states of older blocks, and removes all but the newest two (or
 * `kept`) checkpoints. Returns the blocks of these, oldest first.
 */
export async function writeCheckpoint(rpc: Rpc, dir: string, head: number, kept = KEPT): Promise<number[]> {
  await mkdir(dir, { recursive: true })
  const gzipped = Buffer.from(Dump.parse(await rpc.call('anvil_dumpState', [false])).slice(2), 'hex')
  await writeDurably(file(dir, head), gzipped)
  const all = await listCheckpoints(dir)
  for (const old of all.slice(0, -kept)) await rm(file(dir, old))
  return all.slice(-kept)
}

/** Decompresses the checkpoint of a block into a file that the node can load. */
export async function unpackCheckpoint(dir: string, block: number, to: string): Promise<void> {
  await pipeline(createReadStream(file(dir, block)), createGunzip(), createWriteStream(to))
}

/** Blocks of the checkpoints in `dir`, oldest first. */
export async function listCheckpoints(dir: string): Promise<number[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .flatMap((name) => /^(\d+)\.json\.gz$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

const file = (dir: string, block: number): string => join(dir, `${block}.json.gz`)
