import { setTimeout as sleep } from 'node:timers/promises'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { connect } from '../../clickhouse/store/client.js'
import { checkHealth } from '../health/check-health.js'
import { runContinuousWorker } from '../schedule/run-worker.js'

/** By the wall clock, from one check to the next. */
const CHECK_MS = 60_000

const FAILURE = 'health could not be read'

await runContinuousWorker('health', FAILURE, async ({ config, log, signal }) => {
  const clickhouse = connect(config, { application: 'plumbline-jobs', maxOpenConnections: 2 })
  const thresholds = {
    maxLagSeconds: config.HEALTH_MAX_LAG_SECONDS,
    maxSamplingLagSeconds: config.HEALTH_MAX_SAMPLING_LAG_SECONDS,
    maxLatePeriods: config.HEALTH_MAX_LATE_PERIODS,
    maxMissingBlocks: config.HEALTH_MAX_MISSING_BLOCKS,
  }
  const check = async (): Promise<void> => {
    const health = await checkHealth(clickhouse, SLOT_JOBS, thresholds, new Date())
    if (health === null) return log.warn('no block has been read yet')
    const unhealthy = health.states.filter(({ status }) => status !== 'ok')
    for (const state of health.changed) if (state.status === 'ok') log.info(state, `${state.component} has recovered`)
    for (const state of unhealthy) log.warn(state, `${state.component}: ${state.status}`)
    if (unhealthy.length === 0) log.info({ components: health.states.length }, 'all components are healthy')
  }
  try {
    while (!signal.aborted) {
      const nextAt = performance.now() + CHECK_MS
      await check().catch((error: Error) => log.error({ reason: error.message }, FAILURE))
      await sleep(nextAt - performance.now(), undefined, { signal }).catch(() => {})
    }
  } finally {
    await clickhouse.close()
  }
})
