import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { PlumblineError } from '../../process/errors.js'
import { DEV_ACCOUNT_COUNT } from './accounts.js'
import { createRpc, type Rpc } from './rpc.js'

/** The node could not be started, or ended by itself. */
export class NodeError extends PlumblineError {}

/** Highest hardfork that this anvil knows; without it, it runs T0. */
const HARDFORK = 'T4'
/** Four times Tempo's, so that the books of sixty stables can be opened in one block. */
const GAS_LIMIT = 2_000_000_000
const START_TIMEOUT_MS = 20_000

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
  /** Gas of a block, and of an eth_call. Default: room for the setup of the market. */
  gasLimit?: number
  /** True: it keeps the state of the newest block only; a number: of so many of the newest blocks, in memory. */
  prunesStates?: boolean | number
  /** Where its process id is written, for whoever finds it running without its owner. */
  pidFile: string
  /** A dump to start from. */
  loadState?: string
}

/**
 * Runs the node on a leash: when this process is gone, however it went, stdin closes and the shell ends the node. Says
 * the node's process id on stdout.
 */
const LEASH = `exec 3<&0
"$@" 3<&- </dev/null >/dev/null &
node=$!
echo "$node"
exec >/dev/null
(while read -r _ <&3; do :; done; kill -9 "$node") 2>/dev/null &
leash=$!
wait "$node"
code=$?
kill "$leash" 2>/dev/null
exit "$code"`

/** Starts the node with mining on demand, and waits until it answers. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const port = await freePort(options.port)
  const args = [
    ...['--network', 'tempo', '--hardfork', HARDFORK, '--port', `${port}`, '--accounts', `${DEV_ACCOUNT_COUNT}`],
    ...[
      '--timestamp',
      `${options.genesisTimestamp}`,
      '--gas-limit',
      `${options.gasLimit ?? GAS_LIMIT}`,
      '--no-mining',
      '--quiet',
    ],
    ...['--cache-path', options.cacheDir],
    ...(options.prunesStates ? ['--prune-history'] : ['--max-persisted-states', `${options.maxStates}`]),
    ...(typeof options.prunesStates === 'number' ? [`${options.prunesStates}`] : []),
  ]
  if (options.loadState) args.push('--load-state', options.loadState)
  const child = spawn('sh', ['-c', LEASH, 'sh', binaryPath(), ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2000)
  })
  const ended = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('exit', (code, signal) => settle(`${signal ?? `code ${code}`}${complaint && `: ${complaint.trim()}`}`))
  })
  const gone = ended.then((how) => {
    throw new NodeError(`anvil ended while starting (${how})`, { retryable: false })
  })
  gone.catch(() => undefined)
  const rpcUrl = `http://127.0.0.1:${port}`
  const rpc = createRpc(rpcUrl)
  try {
    const pid = await Promise.race([readPid(child.stdout), gone])
    await writeFile(options.pidFile, `${pid}`)
    await Promise.race([untilItAnswers(rpc), gone])
    return { pid, rpcUrl, rpc, ended, stop: () => stopNode(child, ended) }
  } catch (error) {
    await stopNode(child, ended)
    throw error
  }
}

async function readPid(stdout: Readable): Promise<number> {
  for await (const line of createInterface({ input: stdout })) return Number(line)
  throw new NodeError('anvil did not start', { retryable: false })
}

/** Letting go of the leash ends the node. Nothing it holds is needed: the journal has it all. */
async function stopNode(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.stdin?.end()
  await ended
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
