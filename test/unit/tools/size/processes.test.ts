import { expect, test } from 'vitest'
import { parseMetrics } from '../../../../process/metrics-text.js'
import { processFigures } from '../../../../tools/size/processes.js'

const ingest = `# TYPE plumbline_ingest_blocks_total counter
plumbline_ingest_blocks_total 50
plumbline_rpc_duration_seconds_count{method="eth_call",outcome="ok"} 300
plumbline_rpc_duration_seconds_count{method="eth_getLogs",outcome="failed"} 50
process_cpu_seconds_total 2.5
process_resident_memory_bytes 1.5e8`

const time = (what: string, route: string, value: number) =>
  `plumbline_http_request_duration_seconds_${what}{method="GET",route="${route}",status="200"} ${value}`
const api = (requests: number) =>
  [
    'plumbline_http_requests_running 1',
    time('count', '/api/v1/stablecoins/:stable/peg', requests),
    time('sum', '/api/v1/stablecoins/:stable/peg', 3),
    time('count', '/api/v1/flows', 100),
    time('sum', '/api/v1/flows', 9),
    time('count', '/metrics', 1000),
    time('sum', '/metrics', 88),
    'process_cpu_seconds_total 8',
    'process_resident_memory_bytes 2e8',
  ].join('\n')

test('a process is known by what it counts, and its CPU is divided by what it has done', () => {
  const figures = processFigures([parseMetrics(api(300)), parseMetrics(ingest)], 0)
  expect(figures.ingest).toEqual({
    blocks: 50,
    cpu_seconds_per_block: 0.05,
    node_calls_per_block: 7,
    memory_bytes: 1.5e8,
  })
  // A quarter and three quarters of the time, without that of the metrics.
  expect(figures.api).toMatchObject({ requests: 400, cpu_seconds_per_request: 0.02 })
  expect(figures.api?.routes).toEqual([
    { route: '/api/v1/flows', requests: 100, cpu_seconds_per_request: 0.06 },
    { route: '/api/v1/stablecoins/:stable/peg', requests: 300, cpu_seconds_per_request: 2 / 300 },
  ])
  expect(figures.jobs).toBeNull()
})

test('of an API that has hardly been asked, and of an ingest that has written nothing, there are no figures', () => {
  const idle = ingest.replace('blocks_total 50', 'blocks_total 0')
  const { api: asked, ingest: wrote } = processFigures([parseMetrics(api(-1)), parseMetrics(idle)], 0)
  expect([asked, wrote]).toEqual([null, null])
})
