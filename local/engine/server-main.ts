import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Config } from './config.js'
import { DirectoryLock } from './directory-lock.js'
import { dieOnFaults } from './engine/addon.js'
import { Engine } from './engine/engine.js'
import { Pipes } from './engine/pipes.js'
import { closeTimeZoneFiles } from './engine/time-zone-files.js'
import { HttpServer } from './http/server.js'
import { QueryLog } from './query/query-log.js'
import { Protection } from './sandbox/sandbox.js'

/** A clean shutdown takes milliseconds. After this time the process is killed, which loses no acknowledged data. */
const shutdownMs = 5_000

// If the process that reads these streams is gone, this one must still shut down cleanly.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

// Only this user may read what the engine writes: data, backups and temporary files.
process.umask(0o077)

const log = (line: string) => process.stderr.write(`clickhouse: ${line}\n`)

async function serve(config: Config, protection: Protection, parentEnded: Promise<unknown>): Promise<void> {
  const lock = DirectoryLock.claim(config.dataDirectory)
  const { engine, pipes } = await open(config).catch((error) => {
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
    void parentEnded.then(() => {
      log('stopping: the parent process ended')
      void end(0, server)
    })
    process.on('uncaughtException', (error) => {
      log(`stopping after an unexpected error: ${error.stack}`)
      void end(1, server)
    })
    const ready = { ready: true, url: `http://127.0.0.1:${server.port}`, pid: process.pid, sandbox: protection }
    process.stdout.write(`${JSON.stringify(ready)}\n`)
  } catch (error) {
    log(startError(error, config))
    await end(1)
  }
}

/** Opens the engine first: its lock guarantees that no other process uses the pipes in the directory. */
async function open(config: Config): Promise<{ engine: Engine; pipes: Pipes }> {
  const directory = config.dataDirectory
  const engine = await Engine.open(directory, config).catch((error) => {
    const isRefused = error instanceof Error && error.message.startsWith('Failed to create connection')
    throw isRefused ? new Error(DirectoryLock.whyLocked(directory)) : error
  })
  dieOnFaults()
  try {
    closeTimeZoneFiles()
    return { engine, pipes: Pipes.open(join(directory, 'pipes')) }
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

const lines = createInterface({ input: process.stdin })
const parentEnded = once(lines, 'close')
try {
  const [config] = (await once(lines, 'line')) as [string]
  const protection = Protection.parse(JSON.parse(process.argv.at(-1) ?? ''))
  await serve(JSON.parse(config) as Config, protection, parentEnded)
} catch (error) {
  log(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
