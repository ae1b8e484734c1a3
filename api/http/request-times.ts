import { SECONDS } from '../../clickhouse/store/query-metrics.js'

const NAME = 'plumbline_http_request_duration_seconds'
const HELP = 'Time from the arrival of a request to the end of its answer'

type Times = { labels: string; sum: number; counts: number[] }

/** Durations of requests, by method, route pattern and status. */
export type RequestTimes = {
  observe: (method: string, route: string, status: number, seconds: number) => void
  /** In Prometheus's text format. */
  text: () => string
}

function childOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const made = make()
  map.set(key, made)
  return made
}

/**
 * Counts the durations of requests. Not by prom-client, which builds a string of all labels for each observation: a
 * twentieth of the time for a cached answer.
 */
export function createRequestTimes(): RequestTimes {
  const methods = new Map<string, Map<string, Map<number, Times>>>()

  function child(method: string, route: string, status: number): Times {
    const routes = childOf(methods, method, () => new Map())
    const statuses = childOf(routes, route, () => new Map())
    return childOf(statuses, status, () => ({
      labels: `method="${method}",route=${JSON.stringify(route)},status="${status}"`,
      sum: 0,
      // The last one is for durations above every bound.
      counts: Array.from({ length: SECONDS.length + 1 }, () => 0),
    }))
  }

  function linesOf({ labels, sum, counts }: Times): string[] {
    let count = 0
    const buckets = [...SECONDS, '+Inf'].map((bound, i) => {
      count += counts[i] as number
      return `${NAME}_bucket{le="${bound}",${labels}} ${count}`
    })
    return [...buckets, `${NAME}_sum{${labels}} ${sum}`, `${NAME}_count{${labels}} ${count}`]
  }

  return {
    observe: (method, route, status, seconds) => {
      const times = child(method, route, status)
      let i = 0
      while (i < SECONDS.length && seconds > (SECONDS[i] as number)) i += 1
      times.counts[i] = (times.counts[i] as number) + 1
      times.sum += seconds
    },
    text: () => {
      const all = [...methods.values()].flatMap((routes) => [...routes.values()].flatMap((of) => [...of.values()]))
      return [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`, ...all.flatMap(linesOf), ''].join('\n')
    },
  }
}
