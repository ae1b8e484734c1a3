import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseEnv } from '../process/environment.js'
import { runCommand } from '../process/run-process.js'
import { LocalConfig } from './config.js'
import { Programs, print, type Start, StartError } from './programs.js'
import { startChain } from './start-chain.js'
import { startClickHouse } from './start-clickhouse.js'
import { startService } from './start-service.js'

/** Makes the folder of logs in DATA_DIR, which nobody else can read; resolves to its path. */
async function makeLogDir(dataDir: string): Promise<string> {
  const logDir = join(dataDir, 'logs')
  try {
    await mkdir(logDir, { recursive: true, mode: 0o700 })
    return logDir
  } catch (error) {
    throw new StartError(`DATA_DIR: cannot use ${dataDir}: ${error instanceof Error ? error.message : error}`)
  }
}

async function startAll(context: Start): Promise<void> {
  const [clickhouse, chain] = await Promise.all([startClickHouse(context), startChain(context)])
  const url = await startService(context, clickhouse, chain)
  print('')
  print(`open ${new URL('/', url)}`)
}

await runCommand('plumbline', async () => {
  const config = parseEnv(LocalConfig, process.env)
  const dataDir = resolve(config.DATA_DIR)
  const logDir = await makeLogDir(dataDir)
  let finish: (error: Error | null) => void = () => {}
  const finished = new Promise<Error | null>((resolve) => {
    finish = resolve
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      print('stopping …')
      finish(null)
    })
  }
  const programs = new Programs({ logDir, onLost: finish })
  startAll({ config, dataDir, start: (program) => programs.start(program) }).catch((error: unknown) =>
    finish(error instanceof Error ? error : new Error(String(error))),
  )
  const error = await finished
  await programs.stop()
  if (error) throw error
})
