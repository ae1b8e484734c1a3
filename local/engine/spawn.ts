import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { readConfig } from './config.js'
import { launchServer } from './launch.js'
import type { Protection } from './sandbox/sandbox.js'

type Ready = { ready?: boolean; url: string; sandbox: Protection }

export type EmbeddedOptions = {
  dataDir: string
  /** 0 or undefined takes a free port. */
  port?: number | undefined
  /** Directory of backups. Default: below the data directory. */
  backups?: string | undefined
  user: string
  password: string
  maxConcurrentQueries?: number | undefined
  /** Variables of the command, in addition to this process's environment. */
  env?: NodeJS.ProcessEnv | undefined
}

export type Embedded = {
  url: string
  pid: number
  sandbox: Protection
  child: ChildProcess
  /** Ends the engine and resolves when its process has ended. May be called twice. */
  stop(): Promise<void>
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/**
 * Starts the engine in its own process and resolves when it accepts requests. It ends when this process does. Rejects
 * with the engine's error message, such as a port or a directory in use or a bad variable.
 */
export async function spawnEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const args = ['--data', options.dataDir, '--port', String(options.port ?? 0)]
  if (options.backups !== undefined) args.push('--backups', options.backups)
  const config = readConfig(args, {
    ...process.env,
    ...options.env,
    CLICKHOUSE_USER: options.user,
    CLICKHOUSE_PASSWORD: options.password,
    ...(options.maxConcurrentQueries !== undefined && {
      CLICKHOUSE_MAX_CONCURRENT_QUERIES: String(options.maxConcurrentQueries),
    }),
  })
  const child = launchServer(config, { stderr: 'pipe' })
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
  const { url, sandbox } = await ready(child, exited, lines)
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  return { url, pid: child.pid as number, sandbox, child, stop, exited }
}

function ready(child: ChildProcess, exited: Embedded['exited'], lines: string[]): Promise<Ready> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as Ready
      if (message.ready) resolve(message)
    })
    void exited.then(({ code, signal }) => {
      const messages = lines.filter((line) => line.startsWith('clickhouse: '))
      const why = messages.at(-1)?.slice('clickhouse: '.length) ?? lines.at(-1) ?? `ended with ${code ?? signal}`
      reject(new Error(`embedded ClickHouse did not start: ${why}`))
    })
  })
}
