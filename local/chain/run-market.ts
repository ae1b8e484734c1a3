import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { chainPaths } from './chain-dir.js'
import { isCheckpointDue, listCheckpoints, writeCheckpoint } from './checkpoints.js'
import { readHead } from './head.js'
import type { Journal } from './journal.js'
import { limitStates, STATES_BUDGET_BYTES } from './limit-states.js'
import { blockIntents } from './market.js'
import { createMiner } from './miner.js'
import type { MarketPlan } from './plan.js'
import { trackProgress } from './progress.js'
import { readMarket } from './resume.js'
import type { Rpc } from './rpc.js'
import { createWallet, type SignedIntent } from './wallet.js'

/** In live blocks of 1 s: first after ten minutes, then every minute. */
const BOUND_STATES_AFTER_BLOCKS = 600
const BOUND_STATES_EVERY_BLOCKS = 60

export type MarketRun = {
  rpc: Rpc
  journal: Journal
  chainDir: string
  plan: MarketPlan
  /** Seconds. */
  genesisTimestamp: number
  chainId: number
  /** Fewest live blocks between checkpoints. */
  checkpointBlocks: number
  /** Whether to continue with live blocks after history. */
  live: boolean
  signal: AbortSignal
  log: Logger
  onHistoryDone: () => void
}

/**
 * Executes the plan from the node's head on: history as fast as the node mines, then live blocks, never ahead of the
 * clock. Resolves when the signal aborts; rejects when a transaction does not do what the plan says.
 */
export async function runMarket(run: MarketRun): Promise<void> {
  const { rpc, journal, plan, signal, log } = run
  const { books, nonces } = await readMarket(rpc, plan)
  const wallet = createWallet(run.chainId, nonces)
  const miner = createMiner(rpc, journal, await readHead(rpc))
  const prepare = (block: number): Promise<SignedIntent[]> => wallet.sign(blockIntents(plan, books, block))
  const maintain = await createMaintenance(run)

  let head = await miner.check()
  const { blocks, blockSeconds, liveBlockSeconds } = plan.params
  if (head.number < blocks) {
    const progress = trackProgress('mining history', blocks, log)
    let next = prepare(head.number + 1)
    for (let number = head.number + 1; number <= blocks && !signal.aborted; number++) {
      const timestamp = run.genesisTimestamp + number * blockSeconds
      const intents = await next
      // The next block is signed while the node mines this one.
      const meanwhile = (): void => {
        if (number < blocks) next = prepare(number + 1)
      }
      await miner.mine({ number, timestamp, intents }, { sync: false, meanwhile })
      progress.update(number)
    }
    progress.stop()
    await journal.sync()
    head = await miner.check()
  }
  if (signal.aborted) return
  run.onHistoryDone()
  log.info({ block: head.number }, run.live ? 'history is complete; live blocks follow' : 'history is complete')
  if (!run.live) return untilAborted(signal)
  while (!signal.aborted) {
    const due = Math.max(head.timestamp + liveBlockSeconds, Math.floor(Date.now() / 1000))
    await delay(Math.max(0, due * 1000 - Date.now()), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    const number = head.number + 1
    await miner.mine({ number, timestamp: due, intents: await prepare(number) }, { sync: true })
    head = await miner.check()
    await maintain(number)
  }
}

/**
 * Writes checkpoints and limits the disk space of states, after live blocks. Leaves the states of history alone until
 * ten minutes after its end: a reader may still lag behind, and needs them even after a restart.
 */
async function createMaintenance(run: MarketRun): Promise<(block: number) => Promise<void>> {
  const { rpc, journal, log } = run
  const { blocks } = run.plan.params
  const paths = chainPaths(run.chainDir)
  let newest = Math.max(blocks, (await listCheckpoints(paths.checkpoints)).at(-1) ?? 0)
  return async (block) => {
    if (block > blocks + BOUND_STATES_AFTER_BLOCKS && block % BOUND_STATES_EVERY_BLOCKS === 0) {
      await limitStates(paths.states, STATES_BUDGET_BYTES)
    }
    if (!isCheckpointDue(block, newest, run.checkpointBlocks)) return
    newest = block
    const startedAt = Date.now()
    try {
      const kept = await writeCheckpoint(rpc, paths.checkpoints, block)
      // With only one checkpoint, the next start still replays from the first block.
      await journal.rotate(kept.length > 1 ? (kept[0] ?? 0) : 0)
      log.debug({ block, ms: Date.now() - startedAt }, 'checkpoint written')
    } catch (error) {
      // No data is lost: the next start replays from an older checkpoint.
      log.warn({ err: error, block }, 'cannot write a checkpoint; the next start will replay more blocks')
    }
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((settle) => {
    if (signal.aborted) settle()
    signal.addEventListener('abort', () => settle(), { once: true })
  })
