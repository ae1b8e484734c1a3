import { connect } from '../clickhouse/store/client.js'
import { parseEnv } from '../process/environment.js'
import { serveMetrics } from '../process/metrics-server.js'
import { runProcess } from '../process/run-process.js'
import { IngestConfig } from './config.js'
import { ingest } from './follow/run.js'
import { createIngestMetrics, createTipMetrics } from './metrics.js'
import { noteNode } from './sinks/note-node.js'

/** How often progress is printed while ingest is behind the head, in milliseconds. */
const PROGRESS_MS = 5000
/** A newest block younger than this, in seconds, means that ingest has caught up. */
const CAUGHT_UP_SECONDS = 120

const readConfig = () => parseEnv(IngestConfig, process.env)

await runProcess('ingest', readConfig, async ({ config, log, signal }) => {
  const clickhouse = connect(config, { application: 'plumbline-ingest' })
  const metrics = createIngestMetrics()
  const tip = createTipMetrics(metrics)
  metrics.countQueries(clickhouse)
  const stopServing = await serveMetrics({
    config,
    port: { name: 'INGEST_METRICS_PORT', value: config.INGEST_METRICS_PORT },
    registry: metrics.registry,
    check: () => metrics.check(clickhouse),
    log,
  })
  const stopNoting = noteNode(clickhouse, metrics.node, log)
  const started = Date.now()
  let blocks = 0
  let printed = started
  let caughtUp = false
  try {
    console.log(`ingest reads ${config.CHAIN} into database ${config.CLICKHOUSE_DATABASE}`)
    for await (const done of ingest({ clickhouse, config, log, signal, rpcObserver: metrics.rpc, metrics: tip })) {
      tip.written(done.block, done.blocks)
      blocks += done.blocks
      const now = Date.now()
      const behind = now / 1000 - done.time > CAUGHT_UP_SECONDS
      const rate = `${blocks} blocks in ${((now - started) / 1000).toFixed(1)} s`
      if (!behind && !caughtUp) console.log(`ingest has caught up at block ${done.block}: ${rate}`)
      if (behind && now - printed > PROGRESS_MS) {
        console.log(`ingest is at block ${done.block}: ${rate}`)
        printed = now
      }
      caughtUp = !behind
      log.debug({ block: done.block, blocks: done.blocks }, 'written')
    }
  } finally {
    stopNoting()
    await stopServing()
    await clickhouse.close()
  }
})
