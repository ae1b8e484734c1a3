import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createRequestTimes } from '../../../../api/http/request-times.js'
import { SECONDS } from '../../../../clickhouse/store/query-metrics.js'

const NAME = 'plumbline_http_request_duration_seconds'

/** The lines of a metric, each with its labels in order. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels) => `{${labels.match(/\w+="[^"]*"/g).sort()}}`))
    .sort()

test('durations are exported as by prom-client', async () => {
  const registry = new Registry()
  const theirs = new Histogram({
    name: NAME,
    help: 'Time from the arrival of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  })
  const ours = createRequestTimes()
  const routes = ['/api/v1/stablecoins/:address/peg', '/metrics', 'none']
  for (let i = 0; i < 5000; i++) {
    const method = i % 7 === 0 ? 'POST' : 'GET'
    const route = routes[i % 3] as string
    const status = [200, 304, 404, 499][i % 4] as number
    // From below the first bound to above the last, including some bounds.
    const seconds = i % 50 === 0 ? (SECONDS[i % SECONDS.length] as number) : 2 ** ((i % 41) / 2 - 14)
    theirs.observe({ method, route, status: `${status}` }, seconds)
    ours.observe(method, route, status, seconds)
  }
  expect(linesOf(ours.text())).toEqual(linesOf(await registry.metrics()))
})

test('before the first request the metric exists, without values', () => {
  expect(createRequestTimes().text().split('\n')).toEqual([
    expect.stringMatching(`^# HELP ${NAME} `),
    `# TYPE ${NAME} histogram`,
    '',
  ])
})
