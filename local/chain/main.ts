#!/usr/bin/env node
import { fstatSync } from 'node:fs'
import { pino } from 'pino'
import { parseConfig } from './config.js'
import { startDevnet } from './devnet.js'
import { DevnetError } from './errors.js'

/** Runs the chain until it is stopped. Its only line on stdout says that it is ready; everything else goes to stderr. */
async function main(): Promise<void> {
  const config = parseConfig(process.env)
  const destination = pino.destination(2)
  // The chain runs on when nobody reads its output, or the disk that this goes to is full.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  destination.on('error', () => {})
  const log = pino({ name: 'devnet', level: config.logLevel }, destination)
  const stopping = new AbortController()
  const stopWanted = new Promise<string>((settle) => {
    const want = (why: string): void => {
      stopping.abort()
      settle(why)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => want(signal))
    watchParent(() => want('the parent process ended'))
  })
  const devnet = await startDevnet(config, log, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
    return null
  })
  if (!devnet) return
  const { rpcUrl, chainId, genesisHash, meta, tokenList } = devnet
  process.stdout.write(`${JSON.stringify({ ready: true, rpcUrl, chainId, genesisHash, tokenList, plan: meta.plan })}\n`)
  devnet.historyDone.then(
    () => process.send?.({ historyDone: true }),
    () => undefined,
  )
  try {
    const why = await Promise.race([stopWanted, devnet.ended.then(() => 'the market ended')])
    log.info({ why }, 'stopping')
  } finally {
    await devnet.stop()
  }
}

/**
 * Calls `onGone` once when the parent process has ended, which closes the IPC channel or the pipe on stdin. A stdin
 * that is a terminal, a file or /dev/null tells nothing about the parent and is not watched.
 */
function watchParent(onGone: () => void): void {
  if (process.channel) {
    process.once('disconnect', onGone)
    return
  }
  const stdin = fstatSync(0)
  if (!stdin.isFIFO() && !stdin.isSocket()) return
  process.stdin.once('end', onGone).once('error', onGone).resume()
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    // Expected errors are one line that an operator can act on; all others are printed with their stack.
    process.stderr.write(
      `devnet: ${error instanceof DevnetError ? error.message : String((error as Error)?.stack ?? error)}\n`,
    )
    process.exit(1)
  },
)
