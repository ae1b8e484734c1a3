import { inBytes, table } from '../../process/command-line.js'
import { type Estimate, estimate, type WantedDatabase } from './estimate.js'
import type { Measured } from './measured.js'
import { LEAST_REQUESTS, type ProcessFigures } from './processes.js'
import { LOGGED_MINUTES, type ServerFigures } from './server.js'

type ReportInput = {
  measured: Measured
  wanted: WantedDatabase
  requestsPerSecond: number | null
  needs: Estimate
  processes: ProcessFigures
  server: ServerFigures
  /** Addresses of metrics that could not be read, each with the reason. */
  unread: readonly string[]
}

const LOG_SECONDS = LOGGED_MINUTES * 60
const SHOWN = 12

/** What could not be measured, and what would change that. */
function notMeasured({
  processes: { ingest, api, jobs },
  server: { use, kinds },
  unread,
  requestsPerSecond,
}: ReportInput): string[] {
  const missing: (string | false)[] = [
    ...unread.map((reason) => `metrics at ${reason}`),
    !ingest &&
      'CPU and memory of ingest, calls to the node: no metrics of it with a block written (INGEST_METRICS_PORT, --metrics)',
    !api && `CPU and memory of the API: no metrics of it (--metrics) with ${LEAST_REQUESTS} requests answered`,
    !jobs && 'CPU and memory of the jobs: no metrics of them (JOBS_METRICS_PORT, --metrics)',
    api !== null && requestsPerSecond === null && 'cores of the API: say how many requests (--requests-per-second)',
    !use && 'CPU and memory of ClickHouse: this user may not read system.events, system.metrics',
    !kinds && 'queries: there is no query log of the last minutes that this user may read',
    kinds?.every(({ cpu_seconds }) => cpu_seconds === null) === true &&
      'CPU by kind of query: this query log has no ProfileEvents (the embedded engine has none); their time is shown',
  ]
  return missing.filter((reason) => reason !== false)
}

export type Report = ReturnType<typeof reportOf>

/** All figures, as they are printed as JSON: bytes, seconds, and numbers a second or a day. Null is what was not measured. */
export function reportOf(input: ReportInput) {
  const { measured, wanted, requestsPerSecond, needs, processes, server } = input
  const { ingest, api, jobs } = processes
  const rowsPerDay = ({ tables }: Estimate) => tables.reduce((sum, { rows_per_day }) => sum + rows_per_day, 0)
  const now = rowsPerDay(estimate(measured, { days: wanted.days, replicas: 1 }))
  const times_rows = now === 0 ? 1 : rowsPerDay(needs) / now
  const blocksPerSecond = 1 / needs.chain.block_seconds
  const { stretch } = measured
  const measuredBlocksPerSecond = (stretch.blocks - 1) / Math.max(1, stretch.to_time - stretch.from_time)
  return {
    measured_over: stretch,
    chain: needs.chain,
    days: wanted.days,
    replicas: wanted.replicas,
    tables: needs.tables,
    disk: needs.disk,
    per_second: {
      ...needs.per_second,
      logged_inserts:
        server.kinds &&
        server.kinds.reduce((sum, { is_insert, runs }) => sum + (is_insert ? runs : 0), 0) / LOG_SECONDS,
      node_calls: ingest && ingest.node_calls_per_block * blocksPerSecond,
    },
    cpu: {
      ingest_seconds_per_block: ingest?.cpu_seconds_per_block ?? null,
      api_seconds_per_request: api?.cpu_seconds_per_request ?? null,
      routes: api?.routes ?? null,
      queries: server.kinds,
    },
    /** As if the CPU that ingest and ClickHouse use grew with the rows: `times_rows` as many as now. */
    cores: {
      times_rows,
      ingest: ingest && ingest.cpu_seconds_per_block * measuredBlocksPerSecond * times_rows,
      clickhouse: server.use && server.use.cores * times_rows,
      jobs: jobs?.cores ?? null,
      api: api && requestsPerSecond !== null ? api.cpu_seconds_per_request * requestsPerSecond : null,
    },
    /** As it is now. */
    memory: {
      ingest: ingest?.memory_bytes ?? null,
      clickhouse: server.use?.memory_bytes ?? null,
      largest_query: server.kinds && Math.max(...server.kinds.map(({ memory_bytes }) => memory_bytes)),
      jobs: jobs?.memory_bytes ?? null,
      api: api?.memory_bytes ?? null,
    },
    not_measured: notMeasured(input),
  }
}

const number = (value: number): string => {
  if (value === 0) return '0'
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(0) : value.toPrecision(2)
}
const NOT_MEASURED = 'not measured'
const orNotMeasured = <Value>(value: Value | null, show: (value: Value) => string): string =>
  value === null ? NOT_MEASURED : show(value)
const cores = (value: number | null): string => orNotMeasured(value, (cores) => `${number(cores)} cores`)
const cpuPer = (what: string) => (seconds: number) => `${number(seconds * 1000)} ms of CPU a ${what}`
/** Of a process of which only some is known, that. */
const measuredFigures = (...figures: string[]): string =>
  figures.filter((text) => text !== NOT_MEASURED).join(', ') || NOT_MEASURED

function tablesText({ tables, days }: Report): string {
  const growing = tables.filter(({ rows_per_day }) => rows_per_day > 0)
  const rows = growing.map(({ table, grows_with, rows_per_day, bytes_per_row, bytes_per_day, bytes }) => [
    table,
    grows_with,
    number(rows_per_day),
    bytes_per_row.toFixed(1),
    inBytes(bytes_per_day),
    inBytes(bytes),
  ])
  return table([['table', 'grows with', 'rows/day', 'bytes/row', 'a day', `after ${days} days`], ...rows])
}

function queriesText({ cpu: { queries, routes } }: Report): string[] {
  const ofRoutes = (routes ?? [])
    .slice(0, SHOWN)
    .map(({ route, requests, cpu_seconds_per_request }) => [
      route,
      number(requests),
      `${(cpu_seconds_per_request * 1000).toFixed(2)} ms`,
    ])
  const ofQueries = (queries ?? [])
    .slice(0, SHOWN)
    .map(({ query, runs, seconds, cpu_seconds }) => [
      query,
      number(runs),
      `${((seconds / runs) * 1000).toFixed(1)} ms`,
      orNotMeasured(cpu_seconds, (cpu) => `${((cpu / runs) * 1000).toFixed(1)} ms`),
    ])
  return [
    ...(ofRoutes.length ? [`\n${table([['route', 'requests', 'CPU a request'], ...ofRoutes])}`] : []),
    ...(ofQueries.length
      ? [`\n${table([[`query, last ${LOGGED_MINUTES} minutes`, 'runs', 'time a run', 'CPU a run'], ...ofQueries])}`]
      : []),
  ]
}

/** The report for a reader. */
export function asText(report: Report): string {
  const { measured_over: stretch, chain, disk, per_second, cpu, cores: coreFigures, memory, replicas, days } = report
  const lines: [string, string][] = [
    ['measured over', `blocks ${stretch.from_block} to ${stretch.to_block}, ${stretch.to_time - stretch.from_time} s`],
    [
      'for',
      `${chain.stables.toFixed(0)} stables, a block each ${number(chain.block_seconds)} s, ${number(chain.transactions_per_second)} transactions/s`,
    ],
    ['disk a day', inBytes(disk.per_day)],
    [`disk after ${days} days`, `${inBytes(disk.one_replica)}, and ${inBytes(disk.for_merges)} free for merges`],
    [`on ${replicas} ${replicas === 1 ? 'server' : 'servers'}`, `${inBytes(disk.all_replicas)} with that room`],
    [
      'inserts by ingest',
      `${number(per_second.inserts)}/s, ${number(chain.blocks_per_batch)} blocks a batch; ${orNotMeasured(per_second.logged_inserts, (inserts) => `${number(inserts)}/s in the query log, of all processes`)}`,
    ],
    ['parts', `${number(per_second.parts)}/s`],
    [
      'writes to Keeper',
      per_second.keeper_writes === null ? 'none with one server' : `${number(per_second.keeper_writes)}/s`,
    ],
    ['calls to the node', orNotMeasured(per_second.node_calls, (calls) => `${number(calls)}/s`)],
    [
      'ingest',
      measuredFigures(
        cores(coreFigures.ingest),
        orNotMeasured(memory.ingest, inBytes),
        orNotMeasured(cpu.ingest_seconds_per_block, cpuPer('block now')),
      ),
    ],
    [
      'ClickHouse',
      measuredFigures(
        cores(coreFigures.clickhouse),
        orNotMeasured(memory.clickhouse, inBytes),
        orNotMeasured(memory.largest_query, (bytes) => `${inBytes(bytes)} for the largest query`),
      ),
    ],
    ['jobs', measuredFigures(cores(coreFigures.jobs), orNotMeasured(memory.jobs, inBytes))],
    [
      'API',
      measuredFigures(
        cores(coreFigures.api),
        orNotMeasured(memory.api, inBytes),
        orNotMeasured(cpu.api_seconds_per_request, cpuPer('request')),
      ),
    ],
  ]
  const width = Math.max(...lines.map(([name]) => name.length))
  return [
    tablesText(report),
    '',
    ...lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    ...queriesText(report),
    '',
    ...(coreFigures.times_rows === 1
      ? []
      : [
          `cores of ingest and ClickHouse: as if their CPU grew with the rows, ${number(coreFigures.times_rows)} times as many as now; memory, times and the log are as now`,
        ]),
    ...(coreFigures.ingest !== null && coreFigures.ingest > 1
      ? ['ingest is one process that uses little more than one core: try this load before you rely on it']
      : []),
    ...report.not_measured.map((reason) => `not measured: ${reason}`),
  ].join('\n')
}
