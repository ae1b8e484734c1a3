import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { connect } from '../../clickhouse/store/client.js'
import { checkHealth } from '../health/check-health.js'
import { runWorker } from '../schedule/run-worker.js'

await runWorker('health', 'health could not be read', async ({ config, log }) => {
  const clickhouse = connect(config, { application: 'plumbline-jobs', maxOpenConnections: 2 })
  const thresholds = {
    maxLagSeconds: config.HEALTH_MAX_LAG_SECONDS,
    maxSamplingLagSeconds: config.HEALTH_MAX_SAMPLING_LAG_SECONDS,
    maxLatePeriods: config.HEALTH_MAX_LATE_PERIODS,
    maxMissingBlocks: config.HEALTH_MAX_MISSING_BLOCKS,
  }
  try {
    const check = await checkHealth(clickhouse, SLOT_JOBS, thresholds, new Date())
    if (check === null) {
      log.warn('no block has been read yet')
      return
    }
    const unhealthy = check.states.filter(({ status }) => status !== 'ok')
    for (const state of check.changed) if (state.status === 'ok') log.info(state, `${state.component} has recovered`)
    for (const state of unhealthy) log.warn(state, `${state.component}: ${state.status}`)
    if (unhealthy.length === 0) log.info({ components: check.states.length }, 'all components are healthy')
  } finally {
    await clickhouse.close()
  }
})
