#!/usr/bin/env node
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Config, readConfig } from './config.js'
import { ownDirectory } from './directories.js'
import { DirectoryLock } from './directory-lock.js'
import { dieOnFaults } from './engine/addon.js'
import { Engine } from './engine/engine.js'
import { Pipes } from './engine/pipes.js'
import { hashFromInput } from './hash-password.js'
import { help } from './help.js'
import { HttpServer } from './http/server.js'
import { QueryLog } from './query/query-log.js'
import { Supervisor } from './supervisor.js'
import { threadsFor } from './threads.js'

/** A clean shutdown takes milliseconds. After this time the process is killed, which loses no acknowledged data. */
const shutdownMs = 5_000

// If the process that reads these streams is gone, this one must still shut down cleanly.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

// Only this user may read what the engine writes: data, backups and temporary files.
process.umask(0o077)

const log = (line: string) => process.stderr.write(`clickhouse: ${line}\n`)

async function serve(config: Config): Promise<void> {
  const directory = ownDirectory(config.dataDirectory, 'data directory')
  const lock = DirectoryLock.claim(directory)
  const { engine, pipes } = await open(directory, config).catch((error) => {
    lock.release()
    throw error
  })
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
    lock.release()
    process.exit(code)
  }
  try {
    const server = await HttpServer.listen(engine, pipes, queryLog, config)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end(0, server))
    process.on('disconnect', () => {
      log('stopping: the parent process ended')
      void end(0, server)
    })
    process.on('uncaughtException', (error) => {
      log(`stopping after an unexpected error: ${error.stack}`)
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

/** Opens the engine first: its lock guarantees that no other process uses the pipes in the directory. */
async function open(directory: string, config: Config): Promise<{ engine: Engine; pipes: Pipes }> {
  const backupDirectory = ownDirectory(config.backupDirectory, 'backup directory')
  const engine = await Engine.open(directory, { ...config, backupDirectory }).catch((error) => {
    const isRefused = error instanceof Error && error.message.startsWith('Failed to create connection')
    throw isRefused ? new Error(DirectoryLock.whyLocked(directory)) : error
  })
  dieOnFaults()
  try {
    return { engine, pipes: await Pipes.open(join(directory, 'pipes')) }
  } catch (error) {
    await engine.close()
    throw error
  }
}

function startError(error: unknown, { port }: Config): string {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') return `port ${port} is in use`
  if (code === 'EACCES') return `no permission to listen on port ${port}`
  return error instanceof Error ? error.message : String(error)
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
  const threads = threadsFor(config.maxConcurrentQueries)
  // libuv reads the number of threads before this file runs, so the server needs a child process with another one.
  if (Number(process.env.UV_THREADPOOL_SIZE ?? 0) >= threads) return serve(config)
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(threads) }
  new Supervisor({ program: fileURLToPath(import.meta.url), args, env, log }).run()
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  log(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
