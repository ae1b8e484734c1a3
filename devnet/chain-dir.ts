import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { PlanParams } from './plan.js'

/** What a chain was begun with. It rules over the environment for as long as the chain lives. */
const ChainMeta = z.object({
  genesisTimestamp: z.int(),
  plan: z.object({
    seed: z.int(),
    blocks: z.int(),
    blockSeconds: z.int(),
    liveBlockSeconds: z.int(),
    stables: z.int(),
  }),
})
export type ChainMeta = z.infer<typeof ChainMeta>

/** Files of a chain below `DATA_DIR/chain`. */
export const chainPaths = (chainDir: string) => ({
  meta: join(chainDir, 'chain.json'),
  journal: join(chainDir, 'journal.jsonl'),
  states: join(chainDir, 'states'),
  nodePid: join(chainDir, 'anvil.pid'),
})

/** The chain kept in the folder, or a new one with `plan` whose history ends at `nowSeconds`. */
export async function openChain(
  chainDir: string,
  plan: PlanParams,
  nowSeconds: number,
): Promise<{ meta: ChainMeta; isNew: boolean }> {
  await mkdir(chainDir, { recursive: true })
  const path = chainPaths(chainDir).meta
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text !== null) return { meta: ChainMeta.parse(JSON.parse(text)), isNew: false }
  const meta: ChainMeta = { genesisTimestamp: nowSeconds - plan.blocks * plan.blockSeconds, plan }
  await rm(chainPaths(chainDir).journal, { force: true })
  await writeDurably(path, `${JSON.stringify(meta)}\n`)
  return { meta, isNew: true }
}

/** Writes a file so that after a crash it holds either the old or the new text. */
export async function writeDurably(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(`${path}.new`, 'w')
  await writeFile(file, data)
  await file.sync()
  await file.close()
  await rename(`${path}.new`, path)
}
