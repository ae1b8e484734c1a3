import { Counter, Gauge, Registry } from 'prom-client'
import { MOST_UNKNOWN } from '../../clickhouse/chain/unknown-events.js'
import type { Storage } from '../../clickhouse/store/storage.js'
import type { ServiceState } from './service-state.js'

type Sample = { labels?: Record<string, string>; value: number | null | undefined }

const seconds = (instant: Date | null): number | null => instant && instant.getTime() / 1000

/** Adds a metric and its samples to the registry; without a known value there is no metric. */
type Show = (name: string, help: string, samples: readonly Sample[]) => void
type Shows = { gauge: Show; counter: Show }

function showsIn(registry: Registry): Shows {
  const show = (Kind: typeof Gauge | typeof Counter, name: string, help: string, samples: readonly Sample[]): void => {
    const measured = samples.filter(({ value }) => value !== null && value !== undefined)
    if (measured.length === 0) return
    const labelNames = Object.keys(measured[0]?.labels ?? {})
    const metric = new Kind({ name: `plumbline_${name}`, help, labelNames, registers: [registry] })
    for (const { labels = {}, value } of measured) metric.inc(labels, value as number)
  }
  return {
    gauge: (name, help, samples) => show(Gauge, name, help, samples),
    counter: (name, help, samples) => show(Counter, name, help, samples),
  }
}

function showStorage({ gauge }: Shows, { disks, parts, replicas }: Storage): void {
  gauge('storage_readable', 'Whether the system table with disks, parts or replicas could be read', [
    { labels: { what: 'disks' }, value: disks ? 1 : 0 },
    { labels: { what: 'parts' }, value: parts ? 1 : 0 },
    { labels: { what: 'replicas' }, value: replicas === undefined ? 0 : 1 },
  ])
  gauge(
    'disk_free_bytes',
    'Free space of a disk of the ClickHouse server',
    (disks ?? []).map(({ disk, free_bytes }) => ({ labels: { disk }, value: free_bytes })),
  )
  gauge(
    'disk_size_bytes',
    'Size of a disk of the ClickHouse server',
    (disks ?? []).map(({ disk, total_bytes }) => ({ labels: { disk }, value: total_bytes })),
  )
  gauge(
    'table_bytes',
    'Size of a table on disk, without parts that merges have replaced',
    (parts ?? []).map(({ table, bytes }) => ({ labels: { table }, value: bytes })),
  )
  gauge(
    'table_parts',
    'Active parts of a table',
    (parts ?? []).map(({ table, parts }) => ({ labels: { table }, value: parts })),
  )
  gauge(
    'table_partition_parts',
    'Active parts in the partition of a table that has the most; ClickHouse delays inserts from 1,000 on, and refuses them from 3,000 on',
    (parts ?? []).map(({ table, most_in_partition }) => ({ labels: { table }, value: most_in_partition })),
  )
  gauge('replica_delay_seconds', 'Largest delay of a replicated table of the server that is read', [
    { value: replicas?.most_delay_seconds },
  ])
  gauge('replica_queue', 'Entries in the replication queues of that server', [{ value: replicas?.queued }])
  gauge('replica_readonly_tables', 'Replicated tables of that server that accept no writes', [
    { value: replicas?.readonly_tables },
  ])
  gauge('replica_keeper_up', 'Whether Keeper answers that server', [
    { value: replicas ? Number(replicas.keeper_answers) : undefined },
  ])
  gauge('replicas_away', 'Other replicas that Keeper has not heard of', [{ value: replicas?.away }])
}

function showChain({ gauge }: Shows, { head, newest_block, catalogue }: ServiceState): void {
  gauge('head_block', 'The newest block that may be read, as reported by the node', [{ value: head?.block_number }])
  gauge('head_seen_timestamp_seconds', 'When the node reported it', [{ value: seconds(head?.seen_at ?? null) }])
  gauge('newest_block', 'The newest stored block', [{ value: newest_block?.block_number }])
  gauge('catalogue_block', 'The last block of the past that a first start has read', [
    { value: catalogue?.block_number },
  ])
  gauge('catalogue_eta_seconds', 'Time until it has read all of it, at the speed of the last minute', [
    { value: catalogue?.eta_seconds },
  ])
}

function showDatasets(
  { gauge, counter }: Shows,
  { datasets, missing_blocks, missing_facts, fees_let_go_until, unknown, forks, agreement }: ServiceState,
): void {
  gauge(
    'dataset_lag_blocks',
    'Blocks that a dataset does not have yet',
    datasets.map(({ dataset, lag_blocks }) => ({ labels: { dataset }, value: lag_blocks })),
  )
  gauge(
    'dataset_lag_seconds',
    'Age of the instant up to which a dataset is complete',
    datasets.map(({ dataset, lag_seconds }) => ({ labels: { dataset }, value: lag_seconds })),
  )
  gauge(
    'dataset_delay_seconds',
    'How long after their own time blocks or slots were stored, over the last hour',
    datasets.flatMap(({ dataset, delay_1h }) => [
      { labels: { dataset, quantile: '0.5' }, value: delay_1h.p50_seconds },
      { labels: { dataset, quantile: '0.99' }, value: delay_1h.p99_seconds },
    ]),
  )
  gauge('missing_blocks', 'Missing blocks between stored ones', [{ value: missing_blocks }])
  gauge(
    'gap_blocks',
    'Blocks for which a family of facts could not be read',
    missing_facts.families
      .filter(({ family }) => missing_facts.gaps.some((gap) => gap.family === family))
      .map(({ family, blocks }) => ({ labels: { dataset: family }, value: blocks })),
  )
  gauge(
    'unknown_event_logs',
    "Logs of the chain's own contracts that this version does not understand, by contract and first topic",
    unknown
      .slice(0, MOST_UNKNOWN)
      .map(({ contract, topic, log_count }) => ({ labels: { contract, topic }, value: log_count })),
  )
  gauge('unhandled_forks', 'Forks of the chain, active or to come, that this version does not handle', [
    { value: forks?.active === null ? null : forks?.unhandled.length },
  ])
  gauge('unknown_event_kinds', 'Contracts and topics of such logs', [{ value: unknown.length }])
  counter('quotes_compared_total', "Quotes of the exchange's books that were compared with the node's", [
    { value: agreement.quotes },
  ])
  counter('quotes_disagreed_total', 'Those of them that were others', [{ value: agreement.differences }])
  gauge(
    'fees_let_go_until_timestamp_seconds',
    'Fees of blocks up to this time may be let go of (RETAIN_FEES_PAID_DAYS)',
    [{ value: fees_let_go_until === 0 ? null : fees_let_go_until }],
  )
}

function showJobs({ gauge, counter }: Shows, { jobs, newest_block }: ServiceState): void {
  gauge(
    'job_lag_seconds',
    'How far the newest completed slot of a job is behind the newest block',
    jobs.map(({ job, lag_seconds }) => ({ labels: { job }, value: lag_seconds })),
  )
  gauge(
    'job_waiting_slots',
    'Slots of a job that wait, because facts that their results rest on are not read',
    jobs.map(({ job, waiting }) => ({ labels: { job }, value: newest_block ? (waiting?.slots ?? 0) : undefined })),
  )
  gauge(
    'job_due_slots',
    'Slots of a job that could be done now, among them those that are done again after a backfill or a rollback',
    jobs.map(({ job, due }) => ({ labels: { job }, value: due })),
  )
  gauge(
    'job_done_slots',
    'Slots of a job that are done since the backfill or the rollback because of which its oldest due one has to be done',
    jobs.map(({ job, catch_up }) => ({ labels: { job }, value: catch_up?.done })),
  )
  gauge(
    'job_oldest_due_slot_timestamp_seconds',
    'The oldest slot of a job that could be done now',
    jobs.map(({ job, catch_up }) => ({ labels: { job }, value: seconds(catch_up?.oldest_at ?? null) })),
  )
  gauge(
    'job_slots_per_second',
    'Speed of a job that has slots to do, over the last five minutes',
    jobs.map(({ job, catch_up }) => ({ labels: { job }, value: catch_up?.slots_per_second })),
  )
  gauge(
    'job_eta_seconds',
    'Time until a job has done the slots that could be done now, at that speed',
    jobs.map(({ job, catch_up }) => ({ labels: { job }, value: catch_up?.eta_seconds })),
  )
  gauge(
    'job_last_success_timestamp_seconds',
    'When a job last completed a slot',
    jobs.map(({ job, last_success_at }) => ({ labels: { job }, value: seconds(last_success_at) })),
  )
  counter(
    'job_runs_total',
    'Slots that jobs have run since the database was created, by result',
    jobs.flatMap(({ job, runs }) => [
      { labels: { job, state: 'done' }, value: runs?.done },
      { labels: { job, state: 'failed' }, value: runs?.failed },
    ]),
  )
}

function showFindings({ gauge }: Shows, { findings }: ServiceState): void {
  gauge(
    'verify_findings',
    'Findings of the newest npm run verify',
    findings.map(({ status }) => ({ labels: { status }, value: 1 })),
  )
  gauge('verify_timestamp_seconds', 'When the newest npm run verify ended', [
    { value: seconds(findings[0]?.ended_at ?? null) },
  ])
}

function showWebhooks({ gauge, counter }: Shows, { webhooks }: ServiceState): void {
  gauge(
    'webhook_subscriptions',
    'Webhook subscriptions, by state',
    webhooks.subscriptions.map(({ state, subscriptions }) => ({ labels: { state }, value: subscriptions })),
  )
  gauge('webhook_pending_deliveries', 'Pending webhook deliveries', [{ value: webhooks.pending }])
  counter(
    'webhook_attempts_total',
    'Webhook attempts since the database was created, by outcome and class of the status',
    webhooks.attempts.map(({ outcome, status_class, attempts }) => ({
      labels: { outcome, status: status_class === 0 ? 'none' : `${status_class}xx` },
      value: attempts,
    })),
  )
  counter('webhook_dropped_deliveries_total', 'Webhook deliveries that were given up since the database was created', [
    { value: webhooks.dropped },
  ])
  gauge('webhook_dispatch_seconds', 'Delay from the due time of first attempts to their start, over the last hour', [
    { labels: { quantile: '0.5' }, value: webhooks.dispatch?.p50_seconds },
    { labels: { quantile: '0.99' }, value: webhooks.dispatch?.p99_seconds },
  ])
}

/**
 * Metrics of ingest and the jobs, in Prometheus's text format: they are separate processes, whose state is in the
 * database. Unknown values are omitted, because 0 would be a value; without a state, which a full disk or a lost Keeper may
 * be the reason of, there are those of the storage.
 */
export async function stateMetrics(state: ServiceState | null, storage: Storage): Promise<string> {
  const registry = new Registry()
  const shows = showsIn(registry)
  shows.gauge('clickhouse_up', 'Whether the state of the service could be read', [{ value: state ? 1 : 0 }])
  showStorage(shows, storage)
  if (state) for (const show of [showChain, showDatasets, showJobs, showFindings, showWebhooks]) show(shows, state)
  return registry.metrics()
}
