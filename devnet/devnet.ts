import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { accounts } from './accounts.js'
import { type Anvil, NodeError, startAnvil } from './anvil.js'
import { mineBlock, readBlock, readHead, replayBlock } from './chain.js'
import { type ChainMeta, chainPaths, openChain } from './chain-dir.js'
import type { DevnetConfig } from './config.js'
import { type Journal, openJournal, readJournal } from './journal.js'
import { blockIntents } from './market.js'
import { type MarketPlan, planMarket } from './plan.js'
import { trackProgress } from './progress.js'
import { readMarket } from './resume.js'
import { createWallet } from './wallet.js'

/** States of older blocks that can be called, beside those of history: half an hour of live blocks. */
const LIVE_STATES = 1800

/** A running chain with its market. */
export type Devnet = {
  rpcUrl: string
  chainId: number
  genesisHash: string
  meta: ChainMeta
  /** Fulfilled when history is mined to its end. */
  historyDone: Promise<void>
  /** Fulfilled after `stop`; fails when the market or the node fails. */
  ended: Promise<void>
  stop: () => Promise<void>
}

/** Brings the chain of `config.chainDir` up, as far as it had come, and lets the market go on from there. */
export async function startDevnet(config: DevnetConfig, log: Logger): Promise<Devnet> {
  const paths = chainPaths(config.chainDir)
  const { meta, isNew } = await openChain(config.chainDir, config.plan, Math.floor(Date.now() / 1000))
  const plan = planMarket(meta.plan)
  const anvil = await startAnvil({
    port: config.port,
    genesisTimestamp: meta.genesisTimestamp,
    cacheDir: paths.states,
    maxStates: meta.plan.blocks + LIVE_STATES,
  })
  const { rpc } = anvil
  // Fees go to the coinbase; anvil's own is the zero address, to which nothing can be paid out.
  await rpc.call('anvil_setCoinbase', [accounts.validator.address])
  if (!isNew) await replay(anvil, paths.journal, log)
  const chainId = Number(await rpc.call('eth_chainId'))
  const { hash: genesisHash } = await readBlock(rpc, 0)
  log.info({ genesisHash, rpcUrl: anvil.rpcUrl }, isNew ? 'a fresh chain begins' : 'the chain goes on')

  const stopping = new AbortController()
  const journal = await openJournal(paths.journal)
  const history = deferred()
  history.promise.catch(() => undefined)
  const running = runMarket({
    anvil,
    journal,
    plan,
    meta,
    chainId,
    live: config.live,
    signal: stopping.signal,
    log,
    history,
  })
  const nodeEnded = anvil.ended.then((how) => {
    if (!stopping.signal.aborted) throw new NodeError(`anvil ended by itself (${how})`, { retryable: true })
  })
  const ended = Promise.race([running, nodeEnded]).catch((error: unknown) => {
    history.reject(error)
    throw error
  })
  ended.catch(() => undefined)
  const stop = async (): Promise<void> => {
    stopping.abort()
    await running.catch(() => undefined)
    await journal.sync().finally(() => journal.close())
    await anvil.stop()
  }
  return { rpcUrl: anvil.rpcUrl, chainId, genesisHash, meta, historyDone: history.promise, ended, stop }
}

async function replay(anvil: Anvil, journalPath: string, log: Logger): Promise<void> {
  const blocks = await readJournal(journalPath)
  const progress = trackProgress('replaying the chain', blocks.length, log)
  for (const [i, block] of blocks.entries()) {
    await replayBlock(anvil.rpc, block)
    progress.update(i + 1)
  }
  progress.stop()
}

type Run = {
  anvil: Anvil
  journal: Journal
  plan: MarketPlan
  meta: ChainMeta
  chainId: number
  live: boolean
  signal: AbortSignal
  log: Logger
  history: { resolve: () => void }
}

async function runMarket({ anvil, journal, plan, meta, chainId, live, signal, log, history }: Run): Promise<void> {
  const { rpc } = anvil
  const { books, nonces } = await readMarket(rpc, plan)
  const wallet = createWallet(chainId, nonces)
  let head = await readHead(rpc)
  const mine = async (timestamp: number, sync: boolean): Promise<void> => {
    const number = head.number + 1
    const intents = await wallet.sign(blockIntents(plan, books, number))
    const raws = intents.map(({ raw }) => raw)
    const write = (): Promise<void> => journal.append({ number, timestamp, parent: head.hash, raws }, { sync })
    head = await mineBlock(rpc, { number, timestamp, intents }, write)
  }

  const { blocks, blockSeconds, liveBlockSeconds } = plan.params
  if (head.number < blocks) {
    const progress = trackProgress('mining history', blocks, log)
    while (head.number < blocks && !signal.aborted) {
      await mine(meta.genesisTimestamp + (head.number + 1) * blockSeconds, false)
      progress.update(head.number)
    }
    progress.stop()
    await journal.sync()
  }
  if (signal.aborted) return
  history.resolve()
  log.info({ block: head.number }, live ? 'history is complete, the market goes on live' : 'history is complete')
  while (live && !signal.aborted) {
    const due = Math.max(head.timestamp + liveBlockSeconds, Math.floor(Date.now() / 1000)) * 1000
    await delay(Math.max(0, due - Date.now()), undefined, { signal }).catch(() => undefined)
    if (!signal.aborted) await mine(due / 1000, true)
  }
  if (!live) await new Promise<void>((settle) => signal.addEventListener('abort', () => settle(), { once: true }))
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve = (): void => undefined
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
