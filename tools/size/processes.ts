import type { MetricsText } from '../../process/metrics-text.js'

type RouteCpu = { route: string; requests: number; cpu_seconds_per_request: number }

/** What the processes have used since each was started. Null: no metrics of it, or nothing done yet. */
export type ProcessFigures = {
  ingest: { blocks: number; cpu_seconds_per_block: number; node_calls_per_block: number; memory_bytes: number } | null
  api: { requests: number; cpu_seconds_per_request: number; routes: RouteCpu[]; memory_bytes: number } | null
  jobs: { cores: number; memory_bytes: number } | null
}

const REQUESTS = 'plumbline_http_request_duration_seconds'

const cpuOf = (metrics: MetricsText): number => metrics.total('process_cpu_seconds_total') ?? 0
const memoryOf = (metrics: MetricsText): number => metrics.total('process_resident_memory_bytes') ?? 0

function ingestFigures(metrics: MetricsText): ProcessFigures['ingest'] {
  const blocks = metrics.total('plumbline_ingest_blocks_total') ?? 0
  if (blocks === 0) return null
  return {
    blocks,
    cpu_seconds_per_block: cpuOf(metrics) / blocks,
    node_calls_per_block: (metrics.total('plumbline_rpc_duration_seconds_count') ?? 0) / blocks,
    memory_bytes: memoryOf(metrics),
  }
}

/** Of fewer requests, most of the CPU was for the start of the process. */
export const LEAST_REQUESTS = 100

/** Of programs that watch the process, not of its users. */
const isWatching = (route: string): boolean => route === '/metrics' || route.startsWith('/health')

/** A process does not know which route its CPU time was for: each gets as much of it as it has of the time of all requests. */
function apiFigures(metrics: MetricsText): ProcessFigures['api'] {
  const routes = new Map<string, { requests: number; seconds: number }>()
  const add = (end: 'count' | 'sum', figure: 'requests' | 'seconds'): void => {
    for (const { labels, value } of metrics.samples(`${REQUESTS}_${end}`)) {
      const { route: name = 'none' } = labels
      if (isWatching(name)) continue
      const route = routes.get(name) ?? { requests: 0, seconds: 0 }
      routes.set(name, { ...route, [figure]: route[figure] + value })
    }
  }
  add('count', 'requests')
  add('sum', 'seconds')
  const total = [...routes.values()].reduce(
    (sum, { requests, seconds }) => ({ requests: sum.requests + requests, seconds: sum.seconds + seconds }),
    { requests: 0, seconds: 0 },
  )
  if (total.requests < LEAST_REQUESTS || total.seconds === 0) return null
  const cpu = cpuOf(metrics)
  return {
    requests: total.requests,
    cpu_seconds_per_request: cpu / total.requests,
    routes: [...routes]
      .map(([route, { requests, seconds }]) => ({
        route,
        requests,
        cpu_seconds_per_request: (cpu * seconds) / total.seconds / requests,
      }))
      .toSorted((a, b) => b.requests * b.cpu_seconds_per_request - a.requests * a.cpu_seconds_per_request),
    memory_bytes: memoryOf(metrics),
  }
}

/** The figures in the metrics of some processes, which are known by what they count; of several of a kind, those of the last. `now` is in unix seconds. */
export function processFigures(processes: readonly MetricsText[], now: number): ProcessFigures {
  const figures: ProcessFigures = { ingest: null, api: null, jobs: null }
  for (const metrics of processes) {
    if (metrics.total('plumbline_http_requests_running') !== undefined) figures.api = apiFigures(metrics)
    else if (metrics.total('plumbline_ingest_blocks_total') !== undefined) figures.ingest = ingestFigures(metrics)
    else if (metrics.total('plumbline_jobs_lease_held') !== undefined) {
      const seconds = now - (metrics.total('process_start_time_seconds') ?? now)
      figures.jobs = seconds > 0 ? { cores: cpuOf(metrics) / seconds, memory_bytes: memoryOf(metrics) } : null
    }
  }
  return figures
}
