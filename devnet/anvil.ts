import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PlumblineError } from '../domain/errors.js'
import { DEV_ACCOUNT_COUNT } from './accounts.js'
import { createRpc, type Rpc } from './rpc.js'

/** The node could not be started, or ended by itself. */
export class NodeError extends PlumblineError {}

/** Highest hardfork that this anvil knows; without it, it runs T0. */
const HARDFORK = 'T4'
/** As on Tempo. Setting up dozens of stables takes most of one such block. */
const GAS_LIMIT = 500_000_000
const START_TIMEOUT_MS = 20_000
const STOP_TIMEOUT_MS = 10_000

export type Anvil = {
  pid: number
  rpcUrl: string
  rpc: Rpc
  /** Fulfilled with a description when the process ends, whoever ended it. */
  ended: Promise<string>
  stop: () => Promise<void>
}

export type AnvilOptions = {
  port: number
  /** Seconds; the genesis block's time, and with the parameters above it all that its hash depends on. */
  genesisTimestamp: number
  /** Where it keeps the states of older blocks. It makes a folder of its own in it for each run. */
  cacheDir: string
  /** How many states of older blocks it keeps, each the whole state. */
  maxStates: number
}

/** Starts the node with mining on demand, and waits until it answers. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const port = await freePort(options.port)
  const args = [
    ...['--network', 'tempo', '--hardfork', HARDFORK, '--port', `${port}`, '--accounts', `${DEV_ACCOUNT_COUNT}`],
    ...['--timestamp', `${options.genesisTimestamp}`, '--gas-limit', `${GAS_LIMIT}`, '--no-mining', '--quiet'],
    ...['--cache-path', options.cacheDir, '--max-persisted-states', `${options.maxStates}`],
  ]
  const child = spawn(binaryPath(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2000)
  })
  const ended = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('exit', (code, signal) => settle(`${signal ?? `code ${code}`}${complaint && `: ${complaint.trim()}`}`))
  })
  const rpcUrl = `http://127.0.0.1:${port}`
  const rpc = createRpc(rpcUrl)
  const gone = ended.then((how) => {
    throw new NodeError(`anvil ended while starting (${how})`, { retryable: false })
  })
  await Promise.race([untilItAnswers(rpc), gone]).catch(async (error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  gone.catch(() => undefined)
  return { pid: child.pid as number, rpcUrl, rpc, ended, stop: () => stopChild(child, ended) }
}

async function untilItAnswers(rpc: Rpc): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    try {
      await rpc.call('eth_chainId')
      return
    } catch (cause) {
      if (Date.now() > deadline) throw new NodeError('anvil did not answer in time', { retryable: true, cause })
      await delay(20)
    }
  }
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  // On SIGINT it removes its folder of states; on SIGTERM it does not.
  child.kill('SIGINT')
  const timer = new AbortController()
  const late = delay(STOP_TIMEOUT_MS, undefined, { signal: timer.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  )
  await Promise.race([ended, late])
  timer.abort()
  await ended
}

/** The wanted port if nobody listens there, any free one for 0. */
async function freePort(wanted: number): Promise<number> {
  return new Promise((settle, fail) => {
    const server = createServer()
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem = cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${cause.code})`
      fail(new NodeError(`port ${wanted} ${problem}: set DEVNET_PORT to another`, { retryable: false, cause }))
    })
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => settle(typeof address === 'object' && address ? address.port : wanted))
    })
  })
}

/** The binary itself: the npm package's own launcher is a second process, which does not pass every signal on. */
function binaryPath(): string {
  const require = createRequire(import.meta.url)
  const launcher = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
  const platform = process.platform === 'win32' ? 'win32' : process.platform
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${platform}-${arch}`
  try {
    const binary = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
    return join(dirname(launcher.resolve(`${name}/package.json`)), 'bin', binary)
  } catch (cause) {
    throw new NodeError(`${name} is not installed: there is no anvil for this machine`, { retryable: false, cause })
  }
}
