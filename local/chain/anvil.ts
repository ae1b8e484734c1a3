import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { DEV_ACCOUNT_COUNT } from './accounts.js'
import { DevnetError } from './errors.js'
import { fundAccounts } from './funding.js'
import { createRpc, type Rpc } from './rpc.js'

/** The node could not be started, or exited by itself. */
export class NodeError extends DevnetError {}

/** The newest hardfork that this version of anvil supports. Its default is T0. */
const HARDFORK = 'T4'
/** The chain id of every local chain: the one that stock tools know as a local Tempo chain. */
export const CHAIN_ID = 1337
/** Four times Tempo's limit, so that the books of sixty stables can be opened in one block. */
const GAS_LIMIT = 2_000_000_000
const START_TIMEOUT_MS = 60_000

export type Anvil = {
  pid: number
  rpcUrl: string
  rpc: Rpc
  /** Resolves to the reason when the process ends, for whatever reason. */
  ended: Promise<string>
  stop: () => Promise<void>
}

export type AnvilOptions = {
  port: number
  /** Time of the genesis block, in seconds. Its hash depends on nothing else that varies. */
  genesisTimestamp: number
  /** Where anvil keeps the states of older blocks. Each run makes its own folder there. */
  cacheDir: string
  /** How many states of older blocks anvil keeps. Each is a complete state. */
  maxStates: number
  /** Gas limit of a block and of an eth_call. By default enough for the setup of the market. */
  gasLimit?: number
  /** true: anvil keeps only the state of the newest block. A number: the states of that many newest blocks, in memory. */
  prunesStates?: boolean | number
  /** File for the process id, so that a later start can end a node that outlived its owner. */
  pidFile: string
  /** File with the state to start from. */
  loadState?: string
}

/**
 * A shell that runs the node and kills it when stdin closes, which happens however this process ends. Prints the node's
 * process id on stdout.
 */
const KILL_WITH_PARENT = `exec 3<&0
"$@" 3<&- </dev/null >/dev/null &
node=$!
echo "$node"
exec >/dev/null
(while read -r _ <&3; do :; done; kill -9 "$node") 2>/dev/null &
watcher=$!
wait "$node"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"`

/** How many free ports are tried if none is given: another process may take one before the node does. */
const MAX_PORTS = 3
const isPortTaken = (error: unknown): boolean =>
  error instanceof NodeError && /address already in use/i.test(error.message)

/** Starts the node with mining on demand, and waits until it answers. Port 0 means any free one. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  for (let tried = 1; ; tried++) {
    try {
      return await startOnPort(options, await freePort(options.port))
    } catch (error) {
      if (options.port !== 0 || !isPortTaken(error) || tried === MAX_PORTS) throw error
    }
  }
}

async function startOnPort(options: AnvilOptions, port: number): Promise<Anvil> {
  const args = [
    ...[
      '--network',
      'tempo',
      '--hardfork',
      HARDFORK,
      '--chain-id',
      `${CHAIN_ID}`,
      '--port',
      `${port}`,
      '--accounts',
      `${DEV_ACCOUNT_COUNT}`,
    ],
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
  const child = spawn('sh', ['-c', KILL_WITH_PARENT, 'sh', binaryPath(), ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  let stderrTail = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk.toString()).slice(-2000)
  })
  const ended = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('exit', (code, signal) => settle(`${signal ?? `code ${code}`}${stderrTail && `: ${stderrTail.trim()}`}`))
  })
  const gone = ended.then((how) => {
    throw new NodeError(`anvil exited while starting (${how})`, { retryable: false })
  })
  gone.catch(() => undefined)
  const rpcUrl = `http://127.0.0.1:${port}`
  const rpc = createRpc(rpcUrl)
  try {
    const pid = await Promise.race([readPid(child.stdout), gone])
    await writeFile(options.pidFile, `${pid}`)
    await Promise.race([untilItAnswers(rpc), gone])
    if (!options.loadState) await fundAccounts(rpc)
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

/** Ends the node by closing stdin. Nothing has to be saved: the journal holds every block. */
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
      if (Date.now() > deadline)
        throw new NodeError(`anvil did not answer within ${START_TIMEOUT_MS / 1000} s`, { retryable: true, cause })
      await delay(20)
    }
  }
}

/** The wanted port, or a free one if it is 0. Throws if the port cannot be used. */
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

/**
 * Path of anvil's binary. The launcher of the npm package is not used: it is a second process and does not forward
 * every signal.
 */
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
    throw new NodeError(
      `${name} is not installed: anvil has no build for this machine, or optional dependencies were left out`,
      { retryable: false, cause },
    )
  }
}
