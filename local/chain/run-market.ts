import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { accounts } from './accounts.js'
import { applyLogs } from './books.js'
import { chainPaths } from './chain-dir.js'
import { isCheckpointDue, listCheckpoints, writeCheckpoint } from './checkpoints.js'
import { SETUP } from './clock.js'
import { DevnetError } from './errors.js'
import { type Head, readHead } from './head.js'
import type { Intent } from './intent.js'
import type { Journal, JournalBlock } from './journal.js'
import { limitStates, STATES_BUDGET_BYTES } from './limit-states.js'
import { blockIntents } from './market.js'
import { createMiner, type FailedIntent } from './miner.js'
import type { MarketPlan } from './plan.js'
import { trackProgress } from './progress.js'
import { readBooks, readNonces } from './resume.js'
import type { Rpc } from './rpc.js'
import { createWallet } from './wallet.js'

/** Administrative transactions that wait for a block in which the node takes them. */
const MOST_UNMINED = 50
/** In live blocks of 1 s: first after ten minutes, then every minute. */
const BOUND_STATES_AFTER_BLOCKS = 600
const BOUND_STATES_EVERY_BLOCKS = 60

/** The blocks that create the market did not do so. */
class SetupError extends DevnetError {}

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
 * clock. Resolves when the signal aborts. Others may trade on the DEX, fill the market's orders and even use its
 * accounts: a transaction of the market that fails is logged, and the next block starts from what the chain has.
 */
export async function runMarket(run: MarketRun): Promise<void> {
  const { rpc, journal, signal, log } = run
  const { maintain, keepState } = await createMaintenance(run)
  const mineNext = await createMarket(run, keepState)

  let head = await readHead(rpc)
  const { blocks, blockSeconds, liveBlockSeconds } = run.plan.params
  if (head.number < blocks) {
    const progress = trackProgress('mining history', blocks, log)
    while (head.number < blocks && !signal.aborted) {
      head = await mineNext(head.number + 1, run.genesisTimestamp + (head.number + 1) * blockSeconds, { sync: false })
      progress.update(head.number)
    }
    progress.stop()
    await journal.sync()
  }
  if (signal.aborted) return
  run.onHistoryDone()
  log.info({ block: head.number }, run.live ? 'history is complete; live blocks follow' : 'history is complete')
  if (!run.live) return untilAborted(signal)
  while (!signal.aborted) {
    const due = Math.max(head.timestamp + liveBlockSeconds, Math.floor(Date.now() / 1000))
    await delay(Math.max(0, due * 1000 - Date.now()), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) break
    head = await mineNext(head.number + 1, due, { sync: true })
    await maintain(head.number)
  }
}

/**
 * Returns a function that mines the plan's next block at a time in seconds, and learns from it what it did. Administration
 * that the node did not mine is sent again with the next block. `keepState` is called after a block that cannot be mined
 * again. Throws SetupError if the market cannot be created.
 */
export async function createMarket(
  { rpc, journal, plan, chainId, log }: Pick<MarketRun, 'rpc' | 'journal' | 'plan' | 'chainId' | 'log'>,
  keepState: (unrepeatable: JournalBlock) => Promise<void>,
) {
  const books = await readBooks(rpc, plan)
  const nonces = await readNonces(rpc)
  const wallet = createWallet(chainId, nonces)
  const miner = createMiner({ rpc, journal, wallet, nonces }, await readHead(rpc))
  const report = createReport(log)
  let unmined: Intent[] = []
  return async (number: number, timestamp: number, options: { sync: boolean }): Promise<Head> => {
    // Policies are numbered in order of creation: until the market has its own, nobody else creates one.
    if (number <= SETUP.books) await rpc.call('anvil_dropAllTransactions')
    const intents = [...unmined, ...blockIntents(plan, books, number)]
    const { head, logs, failed, unrepeatable } = await miner.mine({ number, timestamp, intents }, options)
    applyLogs(plan, books, logs)
    report(number, intents, failed)
    unmined = failed.flatMap(({ intent, isMined }) => (!isMined && isAdministration(intent) ? [intent] : []))
    unmined = unmined.slice(-MOST_UNMINED)
    if (unrepeatable) await keepState(unrepeatable)
    return head
  }
}

/** Issuance, pauses, roles and policies. Trades and orders are computed for their block alone. */
const isAdministration = ({ from }: Intent): boolean =>
  [accounts.issuer, accounts.guardian, accounts.compliance].includes(from)

/**
 * Returns a function that logs what failed in a block: each kind of transaction once, until one of its kind succeeds
 * again. It throws SetupError if the failure leaves the market without its stables or orders.
 */
function createReport(log: Logger) {
  const failing = new Set<string>()
  return (block: number, intents: readonly Intent[], failed: readonly FailedIntent[]): void => {
    const failures = new Map(failed.map(({ intent, problem }) => [intent.label, problem]))
    for (const [label, problem] of failures) {
      if (block <= SETUP.books) {
        const message = `the market could not be created: block ${block}: "${label}" ${problem}; remove the folder of the chain`
        throw new SetupError(message, { retryable: false })
      }
      if (failing.has(label)) continue
      failing.add(label)
      log.warn(
        { block, label, problem },
        'a transaction of the market failed; the market continues from the chain, and logs this kind again after a success',
      )
    }
    for (const { label } of intents)
      if (!failures.has(label) && failing.delete(label)) log.info({ block, label }, 'succeeds again')
  }
}

/**
 * Writes checkpoints and limits the disk space of states, after live blocks. Leaves the states of history alone until
 * ten minutes after its end: a reader may still lag behind, and needs them even after a restart.
 */
async function createMaintenance(run: MarketRun) {
  const { rpc, journal, log } = run
  const { blocks } = run.plan.params
  const paths = chainPaths(run.chainDir)
  let newest = Math.max(blocks, (await listCheckpoints(paths.checkpoints)).at(-1) ?? 0)
  const maintain = async (block: number): Promise<void> => {
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
  /** Keeps the state after a block that cannot be mined again, and no state from before it. */
  const keepState = async (unrepeatable: JournalBlock): Promise<void> => {
    const block = unrepeatable.number
    newest = Math.max(newest, block)
    try {
      await writeCheckpoint(rpc, paths.checkpoints, block, 1)
      await journal.append({ ...unrepeatable, isPartial: true }, { sync: true })
      await journal.rotate(block)
      log.info(
        { block },
        'a transaction cannot be sent again from the journal; the state after its block is saved instead',
      )
    } catch (error) {
      log.error({ err: error, block }, 'cannot save the state after a block that cannot be mined again')
    }
  }
  return { maintain, keepState }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((settle) => {
    if (signal.aborted) settle()
    signal.addEventListener('abort', () => settle(), { once: true })
  })
