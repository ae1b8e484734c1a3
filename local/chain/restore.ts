import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { accounts } from './accounts.js'
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.js'
import { chainPaths } from './chain-dir.js'
import { listCheckpoints, unpackCheckpoint } from './checkpoints.js'
import { DevnetError } from './errors.js'
import { readBlock } from './head.js'
import { readJournal } from './journal.js'
import { MinerError, replayBlocks } from './miner.js'
import { trackProgress } from './progress.js'

/** The chain in a folder cannot be restored. */
export class ChainLostError extends DevnetError {}

/**
 * Starts the node and replays the folder's chain up to its head. Begins at the older of two checkpoints, or at the
 * first block if there are fewer: a reader that lags behind still needs the states of blocks before the head. Throws
 * ChainLostError if no starting point gives the same chain.
 */
export async function restoreNode(
  chainDir: string,
  options: AnvilOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<Anvil> {
  const checkpoints = (await listCheckpoints(chainPaths(chainDir).checkpoints)).slice(-2)
  const starts = checkpoints.length < 2 ? [0, ...checkpoints] : checkpoints
  const causes: ChainLostError[] = []
  for (const from of starts) {
    try {
      return await restoreFrom(from, chainDir, options, log, signal)
    } catch (error) {
      if (!(error instanceof ChainLostError)) throw error
      causes.push(error)
    }
  }
  const reasons = causes.map((cause, i) => `from block ${starts[i]}: ${cause.message}`).join('; ')
  throw new ChainLostError(reasons, { retryable: false, cause: causes })
}

async function restoreFrom(
  from: number,
  chainDir: string,
  options: AnvilOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<Anvil> {
  const paths = chainPaths(chainDir)
  const blocks = await readJournal(paths.journal, from).catch((cause: Error) => {
    throw new ChainLostError(`its journal cannot be read: ${cause.message}`, { retryable: false, cause })
  })
  const loadState = from > 0 ? join(paths.states, 'checkpoint.json') : undefined
  if (loadState) {
    await mkdir(paths.states, { recursive: true })
    await unpackCheckpoint(paths.checkpoints, from, loadState).catch((cause: Error) => {
      throw new ChainLostError(`its checkpoint cannot be read: ${cause.message}`, { retryable: false, cause })
    })
  }
  const anvil = await startNode({ ...options, ...(loadState && { loadState }) })
  try {
    if (loadState) await rm(loadState)
    const progress = trackProgress('replaying the chain', blocks.length, log)
    await replayBlocks(anvil.rpc, blocks, progress.update, signal)
    progress.stop()
    const last = blocks.at(-1)
    const parent = last && (await readBlock(anvil.rpc, last.number - 1))
    if (last && parent?.hash !== last.parent) {
      throw new ChainLostError(`the replay of block ${last.number - 1} gave a different hash`, { retryable: false })
    }
    return anvil
  } catch (error) {
    await anvil.stop()
    if (error instanceof MinerError) throw new ChainLostError(error.message, { retryable: false, cause: error })
    throw error
  }
}

/** Starts a node whose fees go to the validator's account from the first block on. */
export async function startNode(options: AnvilOptions): Promise<Anvil> {
  const anvil = await startAnvil(options)
  // anvil's default coinbase is the zero address, which collected fees cannot be paid to.
  await anvil.rpc.call('anvil_setCoinbase', [accounts.validator.address])
  return anvil
}
