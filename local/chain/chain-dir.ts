import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { writeDurably } from './durable-file.js'
import { DevnetError } from './errors.js'
import { PlanParams } from './plan.js'
import { commandLine } from './process-table.js'

/** The program of a devnet, as an installed package or in the repository: tells its processes from others. */
const PROGRAM = /plumbline-devnet|chain[\\/](dist[\\/])?main\.js/

/** Another devnet is using the folder. */
class FolderInUseError extends DevnetError {}

/** The parameters a chain was created with. They take precedence over the environment for the chain's whole life. */
const ChainMeta = z.object({ genesisTimestamp: z.int(), plan: PlanParams })
export type ChainMeta = z.infer<typeof ChainMeta>

/** Paths of a chain's files, below `DATA_DIR/chain`. */
export const chainPaths = (chainDir: string) => ({
  meta: join(chainDir, 'chain.json'),
  journal: join(chainDir, 'journal'),
  /** The market's own stables as a token list. */
  tokenList: join(chainDir, 'token-list.json'),
  /** What backtests of its history should find. */
  plannedBreaks: join(chainDir, 'planned-breaks.csv'),
  plannedFlows: join(chainDir, 'planned-flows.csv'),
  checkpoints: join(chainDir, 'checkpoints'),
  /** Temporary files of the running node, removed when it ends. */
  states: join(chainDir, 'states'),
  nodePid: join(chainDir, 'anvil.pid'),
  ownPid: join(chainDir, 'devnet.pid'),
})

/**
 * Claims the folder for this process and ends a node that a killed predecessor left running there. A pid file may date
 * from before the machine's last boot, so a process counts only if its command line matches. Throws FolderInUseError.
 */
export async function claimFolder(chainDir: string): Promise<void> {
  const paths = chainPaths(chainDir)
  await mkdir(chainDir, { recursive: true })
  for (;;) {
    const taken = await writeFile(paths.ownPid, `${process.pid}`, { flag: 'wx' }).then(
      () => false,
      () => true,
    )
    if (!taken) break
    const owner = await readPid(paths.ownPid)
    if (owner !== null && owner !== process.pid && PROGRAM.test((await commandLine(owner)) ?? '')) {
      throw new FolderInUseError(`${chainDir} is in use by another devnet (process ${owner})`, { retryable: false })
    }
    await rm(paths.ownPid, { force: true })
  }
  const node = await readPid(paths.nodePid)
  const isOurs = async (pid: number): Promise<boolean> => (await commandLine(pid))?.includes(paths.states) ?? false
  if (node !== null && (await isOurs(node))) {
    process.kill(node, 'SIGKILL')
    while (await isOurs(node)) await delay(20)
  }
  await clearScratch(chainDir)
}

/** Releases the folder. The node must have ended before. */
export async function releaseFolder(chainDir: string): Promise<void> {
  await clearScratch(chainDir)
  await rm(chainPaths(chainDir).ownPid, { force: true })
}

/** The parameters of the chain in the folder, or null if there is none. Throws if they cannot be read. */
export async function readMeta(chainDir: string): Promise<ChainMeta | null> {
  const text = await readFile(chainPaths(chainDir).meta, 'utf8').catch(ifMissing(null))
  return text === null ? null : ChainMeta.parse(JSON.parse(text))
}

/** Creates a chain in the folder, whose history will end at `nowSeconds`. Removes the files of an earlier chain. */
export async function createChain(chainDir: string, plan: PlanParams, nowSeconds: number): Promise<ChainMeta> {
  const paths = chainPaths(chainDir)
  // The description is removed first and written last: while it exists, the other files are complete.
  for (const path of [paths.meta, paths.journal, paths.checkpoints, paths.states]) {
    await rm(path, { recursive: true, force: true })
  }
  const meta: ChainMeta = { genesisTimestamp: nowSeconds - plan.blocks * plan.blockSeconds, plan }
  await writeDurably(paths.meta, `${JSON.stringify(meta)}\n`)
  return meta
}

async function clearScratch(chainDir: string): Promise<void> {
  const paths = chainPaths(chainDir)
  await rm(paths.states, { recursive: true, force: true })
  await rm(paths.nodePid, { force: true })
}

async function readPid(path: string): Promise<number | null> {
  const pid = Number(await readFile(path, 'utf8').catch(ifMissing('')))
  return Number.isInteger(pid) && pid > 0 ? pid : null
}

const ifMissing =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return value
    throw error
  }
