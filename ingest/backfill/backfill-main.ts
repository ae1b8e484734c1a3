import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import type { IngestGap } from '../../clickhouse/chain/gaps.js'
import { connect } from '../../clickhouse/store/client.js'
import { parseEnv } from '../../process/environment.js'
import { metricsPort } from '../../process/metrics-access.js'
import { serveMetrics } from '../../process/metrics-server.js'
import { runProcess } from '../../process/run-process.js'
import { familiesRead } from '../batch/scope.js'
import { IngestConfig } from '../config.js'
import { createBackfillMetrics, createIngestMetrics } from '../metrics.js'
import { prepareAgain } from './again.js'
import { prepareBackfill } from './backfill.js'
import { showProgress } from './progress.js'
import { parseRequest } from './request.js'

/**
 * The heap may grow to twice what is in use before it is collected as a whole. Node's default depends on the memory of the
 * machine, and reaches four times on a large one.
 */
setFlagsFromString('--heap-growing-percent=100')

const STOPPED_EARLY = 'backfill stopped early; run it again to continue'

/** The gaps, one line a family. */
function describe(gaps: readonly IngestGap[]): string[] {
  return [...new Set(gaps.map(({ family }) => family))].map((family) => {
    const familyGaps = gaps.filter((gap) => gap.family === family)
    const from = Math.min(...familyGaps.map(({ from_block }) => from_block))
    const to = Math.max(...familyGaps.map(({ to_block }) => to_block))
    const blocks = familyGaps.reduce((sum, gap) => sum + gap.to_block - gap.from_block + 1, 0)
    return `  ${family}: ${blocks} blocks from ${from} to ${to} (${familyGaps[0]?.reason})`
  })
}

const BackfillConfig = IngestConfig.extend({ BACKFILL_METRICS_PORT: metricsPort })

const readConfig = () => {
  const config = parseEnv(BackfillConfig, process.env)
  return { request: parseRequest(process.argv.slice(2), familiesRead(config)), ...config }
}

await runProcess('backfill', readConfig, async ({ config: { request, ...config }, log, signal }) => {
  const clickhouse = connect(config, { application: 'plumbline-backfill' })
  // For temporary tables.
  const session = connect(config, {
    application: 'plumbline-backfill',
    sessionId: randomUUID(),
    requestTimeoutMs: 600_000,
  })
  const metrics = createIngestMetrics()
  metrics.countQueries(clickhouse)
  const stopServing = await serveMetrics({
    config,
    port: { name: 'BACKFILL_METRICS_PORT', value: config.BACKFILL_METRICS_PORT },
    registry: metrics.registry,
    check: () => metrics.check(clickhouse),
    log,
  })
  try {
    const options = { clickhouse, config, log, signal, rpcObserver: metrics.rpc }
    const backfill =
      'again' in request
        ? await prepareAgain({ ...options, session }, request.again)
        : await prepareBackfill(options, request)
    const countDone = createBackfillMetrics(metrics, backfill.blocks)
    const gaps = [...backfill.gaps]
    let [blocks, rows] = [0, 0]
    console.log(`backfill reads ${backfill.blocks} blocks into database ${config.CLICKHOUSE_DATABASE}`)
    const progress = showProgress(backfill.blocks)
    try {
      for await (const done of backfill.run()) {
        blocks += done.blocks
        rows += done.rows
        gaps.push(...done.gaps)
        progress.update(blocks, rows)
        countDone(blocks)
      }
    } finally {
      progress.stop()
    }
    const isWhole = blocks === backfill.blocks
    console.log(`${isWhole ? 'backfill is done' : STOPPED_EARLY}: ${blocks} blocks, ${rows} rows`)
    if (gaps.length > 0)
      console.log(['the node does not have these blocks, which stay missing:', ...describe(gaps)].join('\n'))
  } catch (error) {
    if (signal.aborted && error instanceof Error && error.name === 'AbortError') console.log(STOPPED_EARLY)
    throw error
  } finally {
    await stopServing()
    await Promise.all([clickhouse.close(), session.close()])
  }
})
