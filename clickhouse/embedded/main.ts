#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Config, readConfig } from './config.js'
import { Engine } from './engine/engine.js'
import { Pipes } from './engine/pipes.js'
import { hashFromInput } from './hash-password.js'
import { help } from './help.js'
import { HttpServer } from './http/server.js'
import { Owner } from './owner.js'
import { QueryLog } from './query/query-log.js'
import { threadsFor } from './threads.js'

/** A clean end takes milliseconds; a statement that cannot be stopped must not hold it up. The data survives a kill. */
const shutdownMs = 5_000

// The process that read these may be gone, which is when this one has to end in good order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const log = (line: string) => process.stderr.write(`clickhouse: ${line}\n`)

async function serve(config: Config): Promise<void> {
  mkdirSync(config.dataDirectory, { recursive: true, mode: 0o700 })
  const directory = realpathSync(config.dataDirectory)
  const owner = Owner.claim(directory)
  const engine = await Engine.open(directory, config.users).catch((error) => {
    owner.release()
    const isRefused = error instanceof Error && error.message.startsWith('Failed to create connection')
    throw isRefused ? new Error(Owner.whyLocked(directory)) : error
  })
  const pipes = await Pipes.open(join(directory, 'pipes'))
  const { queryLogDays } = config
  const queryLog =
    queryLogDays > 0 ? await QueryLog.open(engine.connectInternally(), pipes, queryLogDays, log) : undefined
  let isEnding = false
  const end = async (code: number, server?: HttpServer) => {
    if (isEnding) return
    isEnding = true
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), shutdownMs).unref()
    await server?.close()
    await queryLog?.close()
    await engine.close()
    pipes.close()
    owner.release()
    process.exit(code)
  }
  try {
    const server = await HttpServer.listen(engine, pipes, queryLog, config)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(0, server))
    process.on('disconnect', () => {
      log('the process that started it is gone')
      void end(0, server)
    })
    process.on('uncaughtException', (error) => {
      log(`uncaught: ${error.stack}`)
      void end(1, server)
    })
    process.stdout.write(
      `${JSON.stringify({ ready: true, url: `http://127.0.0.1:${server.port}`, pid: process.pid })}\n`,
    )
  } catch (error) {
    log(startError(error, config))
    await end(1)
  }
}

function startError(error: unknown, { port }: Config): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') return `port ${port} is in use`
  if (code === 'EACCES') return `port ${port} needs more rights`
  return error instanceof Error ? error.message : String(error)
}

/** The number of threads is read when the pool starts, which is before this file runs: so a process of its own. */
function restartWithThreads(config: Config): void {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    env: { ...process.env, UV_THREADPOOL_SIZE: String(threadsFor(config.maxConcurrentQueries)) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal))
  process.on('disconnect', () => child.disconnect())
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}

async function run(args: string[]): Promise<void> {
  if (args.includes('--help')) {
    process.stdout.write(help)
    return
  }
  if (args[0] === 'hash-password') {
    process.stdout.write(`${await hashFromInput(process.stdin, (prompt) => process.stderr.write(prompt))}\n`)
    return
  }
  const config = readConfig(args, process.env)
  if (Number(process.env.UV_THREADPOOL_SIZE ?? 0) < threadsFor(config.maxConcurrentQueries)) restartWithThreads(config)
  else await serve(config)
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  log(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
