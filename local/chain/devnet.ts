import type { Logger } from 'pino'
import { NodeError } from './anvil.js'
import { type ChainMeta, chainPaths, claimFolder, createChain, readMeta, releaseFolder } from './chain-dir.js'
import type { DevnetConfig } from './config.js'
import { writeDurably } from './durable-file.js'
import { readBlock } from './head.js'
import { openJournal } from './journal.js'
import { planMarket } from './plan.js'
import { plannedBreaks, plannedFlows } from './planned-events.js'
import { ChainLostError, restoreNode, startNode } from './restore.js'
import { runMarket } from './run-market.js'
import { marketTokenList } from './token-list.js'

/** Number of older live blocks whose state can be called, an hour of them, in addition to all of history. */
const LIVE_STATES = 3_600

/** A running chain with its market. */
export type Devnet = {
  rpcUrl: string
  chainId: number
  genesisHash: string
  meta: ChainMeta
  /** Path of a token list of the market's own stables. */
  tokenList: string
  /** Resolves when the last block of history is mined. */
  historyDone: Promise<void>
  /** Resolves after `stop`; rejects when the market or the node fails. */
  ended: Promise<void>
  /** Ends the market and the node. The next start continues from the same block. */
  stop: () => Promise<void>
}

/**
 * Restores the chain in `config.chainDir` up to its last block, or creates one, and continues the market from there.
 * If `signal` aborts before that, throws its reason and leaves the folder unchanged.
 */
export async function startDevnet(config: DevnetConfig, log: Logger, signal: AbortSignal): Promise<Devnet> {
  await claimFolder(config.chainDir)
  try {
    return await start(config, log, signal)
  } catch (error) {
    await releaseFolder(config.chainDir)
    throw error
  }
}

async function start(config: DevnetConfig, log: Logger, signal: AbortSignal): Promise<Devnet> {
  const { anvil, meta } = await restoreOrCreate(config, log, signal)
  const { rpc, rpcUrl } = anvil
  const stopping = new AbortController()
  const journal = await openJournal(chainPaths(config.chainDir).journal)
  const chainId = Number(await rpc.call('eth_chainId'))
  const genesisHash = (await readBlock(rpc, 0))?.hash ?? ''
  const plan = planMarket(meta.plan)
  const paths = chainPaths(config.chainDir)
  const { tokenList } = paths
  const list = marketTokenList(plan.stables, chainId, meta.genesisTimestamp)
  await writeDurably(tokenList, `${JSON.stringify(list, null, 2)}\n`)
  await writeDurably(paths.plannedBreaks, plannedBreaks(plan, meta.genesisTimestamp))
  await writeDurably(paths.plannedFlows, plannedFlows(plan, meta.genesisTimestamp))

  let historyIsDone = (): void => undefined
  let historyFails = (_: unknown): void => undefined
  const historyDone = new Promise<void>((settle, fail) => {
    historyIsDone = settle
    historyFails = fail
  })
  historyDone.catch(() => undefined)
  const market = runMarket({
    rpc,
    journal,
    chainDir: config.chainDir,
    plan,
    genesisTimestamp: meta.genesisTimestamp,
    chainId,
    checkpointBlocks: config.checkpointBlocks,
    live: config.live,
    signal: stopping.signal,
    log,
    onHistoryDone: historyIsDone,
  })
  const nodeEnd = anvil.ended.then((how) => {
    if (!stopping.signal.aborted) throw new NodeError(`anvil exited unexpectedly (${how})`, { retryable: true })
  })
  const ended = Promise.race([market, nodeEnd])
  ended.catch(historyFails)
  const stop = async (): Promise<void> => {
    stopping.abort()
    await market.catch(() => undefined)
    await journal.sync().finally(() => journal.close())
    await anvil.stop()
    await releaseFolder(config.chainDir)
  }
  return { rpcUrl, chainId, genesisHash, meta, tokenList, historyDone, ended, stop }
}

async function restoreOrCreate(config: DevnetConfig, log: Logger, signal: AbortSignal) {
  const { chainDir } = config
  const options = (meta: ChainMeta) => ({
    port: config.port,
    genesisTimestamp: meta.genesisTimestamp,
    cacheDir: chainPaths(chainDir).states,
    pidFile: chainPaths(chainDir).nodePid,
    maxStates: meta.plan.blocks + LIVE_STATES,
  })
  const found = await readMeta(chainDir).catch((error: unknown) => {
    log.error({ err: error }, 'the chain in this folder is lost: its chain.json cannot be read')
    return null
  })
  if (found) {
    warnOfIgnored(found, config, log)
    try {
      const anvil = await restoreNode(chainDir, options(found), log, signal)
      log.info({ rpcUrl: anvil.rpcUrl, chainDir }, 'the chain was restored')
      return { anvil, meta: found }
    } catch (error) {
      if (!(error instanceof ChainLostError)) throw error
      log.error({ err: error }, `the chain in ${chainDir} is lost: ${error.message}`)
    }
  }
  const meta = await createChain(chainDir, config.plan, Math.floor(Date.now() / 1000))
  const anvil = await startNode(options(meta))
  log.info({ rpcUrl: anvil.rpcUrl, chainDir, ...meta.plan }, 'a new chain was created')
  return { anvil, meta }
}

function warnOfIgnored({ plan }: ChainMeta, config: DevnetConfig, log: Logger): void {
  const keys = Object.keys(plan) as (keyof typeof plan)[]
  const ignored = keys.filter((key) => plan[key] !== config.plan[key])
  if (ignored.length === 0) return
  const kept = Object.fromEntries(ignored.map((key) => [key, plan[key]]))
  log.warn(
    { kept },
    `the chain in ${config.chainDir} keeps the parameters it was created with; remove the folder to create a new chain`,
  )
}
