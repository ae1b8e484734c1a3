import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { defaultMaxConcurrentQueries, threadsFor } from './threads.js'

export type EmbeddedOptions = {
  dataDir: string
  /** 0 or undefined takes a free one. */
  port?: number | undefined
  /** Where backups go. Default: below the data directory. */
  backups?: string | undefined
  user: string
  password: string
  maxConcurrentQueries?: number | undefined
  /** Added to this process's environment. */
  env?: NodeJS.ProcessEnv | undefined
}

export type Embedded = {
  url: string
  pid: number
  child: ChildProcess
  /** Ends it and resolves when it is gone. May be called twice. */
  stop(): Promise<void>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/**
 * Starts the engine in a process of its own and resolves when it answers. It ends when this process does. Rejects with
 * the engine's own message: a port in use, a directory owned by another, a bad variable.
 */
export async function spawnEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const threads = threadsFor(options.maxConcurrentQueries ?? defaultMaxConcurrentQueries)
  const args = ['--data', options.dataDir, '--port', String(options.port ?? 0)]
  if (options.backups !== undefined) args.push('--backups', options.backups)
  const child = spawn(process.execPath, [entry(), ...args], {
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: String(threads),
      ...options.env,
      CLICKHOUSE_USER: options.user,
      CLICKHOUSE_PASSWORD: options.password,
      ...(options.maxConcurrentQueries !== undefined && {
        CLICKHOUSE_MAX_CONCURRENT_QUERIES: String(options.maxConcurrentQueries),
      }),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C goes to a whole process group; whoever started the engine ends it, behind those who still write to it.
    detached: true,
  })
  const exited: Embedded['exited'] = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', () => resolve({ code: null, signal: null }))
  })
  const lines: string[] = []
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line)
    if (lines.length > 100) lines.shift()
    process.stderr.write(`${line}\n`)
  })
  const url = await ready(child, exited, lines)
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  return { url, pid: child.pid as number, child, stop, exited }
}

function ready(child: ChildProcess, exited: Embedded['exited'], lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as { ready?: boolean; url: string }
      if (message.ready) resolve(message.url)
    })
    void exited.then(({ code, signal }) => {
      const own = lines.filter((line) => line.startsWith('clickhouse: '))
      const why = own.at(-1)?.slice('clickhouse: '.length) ?? lines.at(-1) ?? `ended with ${code ?? signal}`
      reject(new Error(`embedded ClickHouse did not start: ${why}`))
    })
  })
}

/** The compiled entry, from the compiled folder as well as from the sources. */
function entry(): string {
  const beside = fileURLToPath(new URL('./main.js', import.meta.url))
  const built = fileURLToPath(new URL('../../dist/local/engine/main.js', import.meta.url))
  const found = [beside, built].find((path) => existsSync(path))
  if (!found) throw new Error(`${built} is missing: run npm run build`)
  return found
}
