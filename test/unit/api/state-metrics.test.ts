import { expect, test } from 'vitest'
import { stateMetrics } from '../../../api/service/state-metrics.js'

test('why the state cannot be read is shown: a full disk, a replica that accepts no rows, a Keeper that is away', async () => {
  const replicas = { most_delay_seconds: 7, queued: 3, readonly_tables: 56, keeper_answers: false, away: null }
  const disks = [{ disk: 'default', free_bytes: 0, total_bytes: 1000 }]
  const metrics = await stateMetrics(null, { disks, parts: undefined, replicas })
  for (const line of [
    'plumbline_clickhouse_up 0',
    'plumbline_storage_readable{what="parts"} 0',
    'plumbline_disk_free_bytes{disk="default"} 0',
    'plumbline_replica_delay_seconds 7',
    'plumbline_replica_readonly_tables 56',
    'plumbline_replica_keeper_up 0',
  ])
    expect(metrics.split('\n')).toContain(line)
  // Without the Keeper, nobody knows which others there are.
  expect(metrics).not.toContain('plumbline_replicas_away')
})
