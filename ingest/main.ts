import { pino } from 'pino'
import { connect } from '../clickhouse/store/client.js'
import { parseEnv } from '../process/environment.js'
import { exitCodeOf } from '../process/errors.js'
import { IngestConfig } from './config.js'
import { ingest } from './follow/run.js'

/** How often progress is told while ingest is behind the head, in milliseconds. */
const PROGRESS_MS = 5000
/** A newest block younger than this, in seconds, means that ingest has caught up. */
const CAUGHT_UP_SECONDS = 120

const stop = new AbortController()
let askedToStop = false
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect']) {
  process.once(signal, () => {
    askedToStop = true
    stop.abort()
  })
}

async function main(): Promise<void> {
  const config = parseEnv(IngestConfig, process.env)
  const log = pino({ name: 'ingest', level: config.LOG_LEVEL }, pino.destination({ fd: 2, sync: true }))
  const clickhouse = connect(config, { application: 'plumbline-ingest' })
  const started = Date.now()
  let blocks = 0
  let told = started
  let caughtUp = false
  try {
    console.log(`ingest reads ${config.CHAIN} into database ${config.CLICKHOUSE_DATABASE}`)
    for await (const done of ingest({ clickhouse, config, log, signal: stop.signal })) {
      blocks += done.blocks
      const now = Date.now()
      const behind = now / 1000 - done.time > CAUGHT_UP_SECONDS
      const rate = `${blocks} blocks in ${((now - started) / 1000).toFixed(1)} s`
      if (!behind && !caughtUp) console.log(`ingest has caught up at block ${done.block}: ${rate}`)
      if (behind && now - told > PROGRESS_MS) {
        console.log(`ingest is at block ${done.block}: ${rate}`)
        told = now
      }
      caughtUp = !behind
      log.debug({ block: done.block, blocks: done.blocks }, 'written')
    }
  } finally {
    stop.abort()
    await clickhouse.close()
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    if (askedToStop && error instanceof Error && error.name === 'AbortError') process.exit(0)
    console.error(`ingest stops: ${error instanceof Error ? error.message : error}`)
    process.exit(exitCodeOf(error))
  },
)
