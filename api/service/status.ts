import type { z } from 'zod'
import { HEAD_SECONDS } from '../../clickhouse/chain/heads.js'
import { CALL_OUTCOMES } from '../../clickhouse/chain/node-calls.js'
import { MOST_UNKNOWN } from '../../clickhouse/chain/unknown-events.js'
import { lateJobs, SLOT_JOBS } from '../../clickhouse/jobs/periods.js'
import { secondsBetween } from '../../clickhouse/jobs/progress.js'
import type { Storage } from '../../clickhouse/store/storage.js'
import { isoSeconds } from '../../process/instants.js'
import { endpoint } from '../answers/endpoint.js'
import type { ServiceState, ServiceStateReader } from './service-state.js'
import { MOST_DISAGREED, MOST_GAPS, NODE_PROBLEMS, type NodeProblem, Status } from './status-shapes.js'

/** The share of failed or late calls, and the changes of the chain in an hour, from which on a node is in trouble; the alerts have the same. */
const [MOST_FAILURES, MOST_CHANGES] = [0.1, 10]

const periods = new Map(SLOT_JOBS.map(({ name, period_seconds }) => [name, period_seconds]))
const iso = (instant: Date | null): string | null => instant && isoSeconds(instant)

function publishedStorage({ disks, replicas }: Storage): z.input<typeof Status>['storage'] {
  const free = (disks ?? []).map(({ free_bytes, total_bytes }) => free_bytes / total_bytes)
  return {
    least_free_share: free.length === 0 ? null : Math.floor(1000 * Math.min(...free)) / 1000,
    replica_delay_seconds: replicas?.most_delay_seconds ?? null,
    readonly_tables: replicas?.readonly_tables ?? null,
    keeper_answers: replicas?.keeper_answers ?? null,
    replicas_away: replicas?.away ?? null,
  }
}

function publishedNode({ at, node }: ServiceState): z.input<typeof Status>['node'] {
  if (node === null || secondsBetween(node.noted_at, at) > HEAD_SECONDS) return null
  const { noted_at, chain_changes, ...calls } = node
  const total = CALL_OUTCOMES.reduce((sum, outcome) => sum + calls[outcome], 0)
  const holds: Record<NodeProblem, boolean> = {
    away: total > 0 && calls.ok === 0,
    limits_rate: calls.limited > 0,
    limits_ranges: calls.too_large > 0,
    drops_states: calls.no_state > 0,
    late: calls.late > MOST_FAILURES * total,
    fails: calls.failed > MOST_FAILURES * total,
    unsteady: chain_changes > MOST_CHANGES,
  }
  const problems = NODE_PROBLEMS.filter((problem) => holds[problem])
  return { noted_at: isoSeconds(noted_at), problems, calls_1m: calls, chain_changes_1h: chain_changes }
}

function publishedForks({ forks }: ServiceState): z.input<typeof Status>['forks'] {
  if (forks === null || forks.active === null) return null
  const unhandled = forks.unhandled.map(({ name, activation_time, is_active }) => ({
    name,
    activation_at: isoSeconds(new Date(activation_time * 1000)),
    is_active,
  }))
  return { noted_at: isoSeconds(forks.noted_at), active: forks.active, unhandled }
}

function publishedAgreement({ agreement }: ServiceState): z.input<typeof Status>['agreement'] {
  const { disagreed, ...compared } = agreement
  const newest = disagreed.toReversed().slice(0, MOST_DISAGREED)
  return {
    ...compared,
    disagreed: newest.map(({ from_time, to_time, ...range }) => ({
      ...range,
      from: isoSeconds(new Date(from_time * 1000)),
      to: isoSeconds(new Date(to_time * 1000)),
    })),
  }
}

function published(state: ServiceState): z.input<typeof Status> {
  const { at, head, newest_block, catalogue, datasets, findings, jobs } = state
  const { gaps } = state.missing_facts
  const late = lateJobs(SLOT_JOBS, new Map(jobs.map(({ job, due_lag_seconds }) => [job, due_lag_seconds])))
  const [first] = findings
  return {
    at: isoSeconds(at),
    head: head && { ...head, block_time: isoSeconds(head.block_time), seen_at: isoSeconds(head.seen_at) },
    node: publishedNode(state),
    newest_block: newest_block && { ...newest_block, block_time: isoSeconds(newest_block.block_time) },
    catalogue,
    datasets: datasets.map(({ newest_at, ...dataset }) => ({ ...dataset, newest_at: iso(newest_at) })),
    gaps: {
      missing_blocks: state.missing_blocks,
      declared_count: gaps.length,
      declared: gaps.slice(0, MOST_GAPS).map(({ family, ...range }) => ({ dataset: family, ...range })),
    },
    forks: publishedForks(state),
    unknown_events: { count: state.unknown.length, newest: state.unknown.slice(0, MOST_UNKNOWN) },
    agreement: publishedAgreement(state),
    storage: publishedStorage(state.storage),
    fees_kept_from: state.fees_let_go_until === 0 ? null : isoSeconds(new Date(state.fees_let_go_until * 1000)),
    invariants: first
      ? {
          started_at: isoSeconds(first.started_at),
          ended_at: isoSeconds(first.ended_at),
          findings: findings.map(({ what, status, scope }) => ({ what, status, scope })),
        }
      : null,
    jobs: jobs.map(({ job, last_slot_at, last_success_at, lag_seconds, waiting, catch_up, runs }) => ({
      job,
      period_seconds: periods.get(job) ?? 0,
      last_slot_at: iso(last_slot_at),
      last_success_at: iso(last_success_at),
      lag_seconds,
      is_late: late.includes(job),
      waiting_slots: waiting?.slots ?? 0,
      waiting_reason: waiting?.reason ?? null,
      waiting_until: iso(waiting?.until ?? null),
      catch_up: catch_up && {
        due_slots: catch_up.slots,
        done_slots: catch_up.done,
        oldest_slot_at: isoSeconds(catch_up.oldest_at),
        slots_per_second: catch_up.slots_per_second,
        eta_seconds: catch_up.eta_seconds,
      },
      done_24h: runs?.done_24h ?? 0,
      failed_24h: runs?.failed_24h ?? 0,
      median_ms_24h: runs?.median_ms_24h ?? null,
    })),
  }
}

/** The public status: progress, missing data, and whether checks have passed. */
export const statusRoute = ({ readOrLast }: ServiceStateReader) =>
  endpoint({
    path: '/status',
    tag: 'service',
    operationId: 'getStatus',
    summary: 'How far behind the chain each dataset is, gaps, checks and jobs',
    description:
      'Progress of the service: the newest block of the chain and the newest stored block, the lag of every dataset ' +
      'now and in percentiles of the last hour and day, missing blocks, findings of the newest check, and the jobs. ' +
      'All of it is as of `at`, which is a few seconds ago, or older while the database cannot be read.',
    about: 'now',
    response: Status,
    answer: async () => published(await readOrLast()),
  })
