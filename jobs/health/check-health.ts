import type { ClickHouseClient } from '@clickhouse/client'
import { healthDriftEvent } from '../../clickhouse/events/types.js'
import {
  type ComponentHealth,
  componentStates,
  type HealthThresholds,
  newestHealth,
} from '../../clickhouse/jobs/health.js'
import type { SlotJob } from '../../clickhouse/jobs/periods.js'
import { slotBounds } from '../../clickhouse/jobs/slots.js'
import { announce } from '../detect/announce.js'
import { readHealth } from './read-health.js'

/** The states of all components of the service, and those that changed. */
export type HealthCheck = { states: ComponentHealth[]; changed: ComponentHealth[] }

/**
 * Checks every component of the service and announces those whose state differs from the one announced last. A
 * component that was never announced counts as healthy before. Two concurrent checks announce a change once. Resolves
 * to null while there is no block.
 */
export async function checkHealth(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
  thresholds: HealthThresholds,
  now: Date,
): Promise<HealthCheck | null> {
  const before = new Map((await newestHealth(clickhouse)).map((health) => [health.component, health]))
  const readings = await readHealth(clickhouse, jobs, { now, ...thresholds })
  if (!readings) return null
  const states = componentStates(readings, jobs, thresholds, before)
  const changed = states.filter(({ component, status }) => status !== (before.get(component)?.status ?? 'ok'))
  const events = changed.map((state) => healthDriftEvent(state, now, before.get(state.component)?.id ?? ''))
  const bounds = await slotBounds(clickhouse)
  await announce(clickhouse, events, { at: now, revision: bounds?.revision ?? 0 })
  return { states, changed }
}
