import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type MarketPlan, PlanParams, planMarket } from './plan.js'

const Ready = z.object({
  ready: z.literal(true),
  rpcUrl: z.string(),
  chainId: z.int(),
  genesisHash: z.string(),
  plan: PlanParams,
})

export type SpawnOptions = {
  /** The chain is kept in `dataDir/chain`. */
  dataDir: string
  /** 0, the default, takes a free port. */
  port?: number
  seed?: number
  stables?: number
  historyBlocks?: number
  blockSeconds?: number
  /** false, the default: no blocks follow the history. */
  live?: boolean
  liveBlockSeconds?: number
  /** Fewest live blocks between checkpoints. */
  checkpointBlocks?: number
  /** Receives each line of the devnet's log. */
  onLog?: (line: string) => void
}

export type SpawnedDevnet = {
  rpcUrl: string
  wsUrl: string
  chainId: number
  genesisHash: string
  pid: number
  child: ChildProcess
  /** The plan of this chain: if `dataDir` already had a chain, of that one. */
  plan: MarketPlan
  historyDone: Promise<void>
  /** Sends SIGTERM and waits until the process has ended. May be called again. */
  stop: () => Promise<void>
}

/** Starts the compiled devnet as a child process. Rejects with the child's last error message. */
export async function spawnDevnet(options: SpawnOptions): Promise<SpawnedDevnet> {
  const { blockSeconds = 60, historyBlocks = 120 } = options
  const env = {
    ...process.env,
    DATA_DIR: options.dataDir,
    DEVNET_PORT: `${options.port ?? 0}`,
    DEVNET_SEED: `${options.seed ?? 1}`,
    DEVNET_STABLES: `${options.stables ?? 10}`,
    DEVNET_HISTORY_BLOCK_SECONDS: `${blockSeconds}`,
    DEVNET_HISTORY_HOURS: `${(historyBlocks * blockSeconds) / 3600}`,
    DEVNET_LIVE: options.live ? 'on' : 'off',
    DEVNET_BLOCK_SECONDS: `${options.liveBlockSeconds ?? 1}`,
    DEVNET_CHECKPOINT_BLOCKS: `${options.checkpointBlocks ?? 600}`,
  }
  const child = spawn(process.execPath, [compiledMain()], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('the devnet was started without pipes')
  const exited = new Promise<void>((settle) => child.once('exit', () => settle()))
  let lastMessage = ''
  createInterface({ input: stderr }).on('line', (line) => {
    // The last error message, including its stack.
    lastMessage = line.startsWith('devnet: ') || !lastMessage.startsWith('devnet: ') ? line : `${lastMessage}\n${line}`
    options.onLog?.(line)
  })
  const historyDone = new Promise<void>((settle, fail) => {
    child.on('message', (message) => {
      if (z.object({ historyDone: z.literal(true) }).safeParse(message).success) settle()
    })
    child.once('close', () => fail(new Error(`the devnet exited before its history was complete: ${lastMessage}`)))
  })
  historyDone.catch(() => undefined)
  const line = await new Promise<string>((settle, fail) => {
    createInterface({ input: stdout }).once('line', settle)
    child.once('error', fail)
    child.once('close', () => fail(new Error(lastMessage || 'the devnet exited without a message')))
  })
  const { rpcUrl, chainId, genesisHash, plan } = Ready.parse(JSON.parse(line))
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exited
  }
  const pid = child.pid as number
  const wsUrl = rpcUrl.replace('http', 'ws')
  return { rpcUrl, wsUrl, chainId, genesisHash, pid, child, plan: planMarket(plan), historyDone, stop }
}

/** The compiled program: beside this file, or in `dist` if a test runner loads this source file. */
function compiledMain(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const main = [join(here, 'main.js'), join(here, 'dist', 'main.js')].find((path) => existsSync(path))
  if (!main) throw new Error('the devnet is not compiled: run `npm run build` first')
  return main
}
