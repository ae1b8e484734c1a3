import { pino } from 'pino'
import { PlumblineError } from '../../process/errors.js'
import { parseConfig } from './config.js'
import { startDevnet } from './devnet.js'
import { watchParent } from './parent.js'

/** Runs the chain until it is told to end. The one line on stdout says that it can be used; all else goes to stderr. */
async function main(): Promise<void> {
  const config = parseConfig(process.env)
  const log = pino({ name: 'devnet', level: config.logLevel }, pino.destination(2))
  const stopping = new AbortController()
  const stopWanted = new Promise<string>((settle) => {
    const want = (why: string): void => {
      stopping.abort()
      settle(why)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => want(signal))
    watchParent(() => want('the parent is gone'))
  })
  const devnet = await startDevnet(config, log, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
    return null
  })
  if (!devnet) return
  const { rpcUrl, chainId, genesisHash, meta } = devnet
  process.stdout.write(`${JSON.stringify({ ready: true, rpcUrl, chainId, genesisHash, plan: meta.plan })}\n`)
  devnet.historyDone.then(
    () => process.send?.({ historyDone: true }),
    () => undefined,
  )
  try {
    const why = await Promise.race([stopWanted, devnet.ended.then(() => 'the end of the market')])
    log.info({ why }, 'stopping')
  } finally {
    await devnet.stop()
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // What the operator can act on is one line; anything else keeps its stack.
    process.stderr.write(
      `devnet: ${error instanceof PlumblineError ? error.message : String((error as Error)?.stack ?? error)}\n`,
    )
    process.exit(1)
  },
)
