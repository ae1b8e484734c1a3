import { z } from 'zod'
import { FAMILIES, isOptional, STEADY_FAMILIES } from '../../clickhouse/chain/batches.js'
import { MOST_STABLES } from '../../clickhouse/chain/quote-checks.js'
import { MOST_UNKNOWN, UnknownEventRow } from '../../clickhouse/chain/unknown-events.js'
import { WAIT_REASONS } from '../../clickhouse/jobs/slots.js'
import { Delay } from '../../clickhouse/store/delays.js'

const time = z.iso.datetime()
const count = z.int().nonnegative()

/** Most gaps in the answer. */
export const MOST_GAPS = 50
/** Most ranges of blocks with disagreeing quotes that the status lists. */
export const MOST_DISAGREED = 20

const DelayShape = Delay.meta({
  id: 'Delay',
  description:
    'How long after their own time blocks (or slots of a job) were stored, over a period; null if there were none',
})

/** What can be wrong with the node, of which several may be. */
export const NODE_PROBLEMS = [
  'away',
  'limits_rate',
  'limits_ranges',
  'drops_states',
  'late',
  'fails',
  'unsteady',
] as const
export type NodeProblem = (typeof NODE_PROBLEMS)[number]

const Head = z
  .object({
    tag: z.string().meta({ description: 'finalized, or latest on a chain without finality' }),
    block_number: count.meta({ description: 'Of the head' }),
    block_time: time.meta({ description: 'Of the head' }),
    seen_at: time.meta({ description: 'When the node was asked' }),
  })
  .nullable()
  .meta({
    description: 'The newest block that may be read, as last reported by the node; null before the first report',
  })

const Node = z
  .object({
    noted_at: time.meta({ description: 'When ingest last recorded how the node answers' }),
    problems: z.array(z.enum(NODE_PROBLEMS)).meta({
      description:
        'Empty if nothing is wrong. away: no call was answered; limits_rate: it refuses calls that come too fast; limits_ranges: it refuses ranges of logs for their blocks or results; drops_states: it no longer has states that were asked for; late, fails: more than a tenth of the calls; unsteady: the chain was replaced more than ten times in an hour, as by nodes on different forks',
    }),
    calls_1m: z
      .object({
        ok: count.meta({ description: 'Answered' }),
        limited: count.meta({ description: 'Refused because they came too fast' }),
        too_large: count.meta({ description: 'Refused because of too many blocks or results' }),
        no_state: count.meta({ description: 'Refused because the node has dropped the state of the block' }),
        late: count.meta({ description: 'Not answered in time' }),
        failed: count.meta({ description: 'Failed in another way' }),
      })
      .meta({ description: 'Calls of the minute before, by what became of them' }),
    chain_changes_1h: count.meta({ description: 'How often the chain was no longer the one that was read' }),
  })
  .nullable()
  .meta({ description: 'How the node answers ingest; null if ingest does not run, or has just begun' })

const Catalogue = z
  .object({
    block_number: count.meta({ description: 'The last block that is read' }),
    to_block: count.meta({
      description: 'The newest block when it began; with a START_BLOCK before that, less is read',
    }),
    blocks_per_second: z.number().nonnegative().nullable().meta({
      description: 'Speed of the last minute; null if that is not known',
    }),
    eta_seconds: count.nullable().meta({ description: 'Time left at that speed; null if it is not known' }),
  })
  .nullable()
  .meta({
    description:
      'Progress of a first start on a chain with a past: the tokens and orders of that past, before the first block is read in full. Null at any other time',
  })

const Datasets = z
  .array(
    z.object({
      dataset: z.string().meta({
        description: `A family of facts (${STEADY_FAMILIES.join(', ')}; ${FAMILIES.filter(isOptional).join(', ')} where holders are tracked), or what a job publishes`,
      }),
      newest_at: time.nullable().meta({
        description:
          'Of facts: they are complete up to this instant. Of a job: its newest slot that is done; catch_up of the job tells of older ones that are not',
      }),
      lag_blocks: count.nullable().meta({
        description: 'Blocks between it and the head; null if the node was not asked for its head in the last minute',
      }),
      lag_seconds: count.nullable().meta({ description: 'Age of newest_at by the clock' }),
      delay_1h: DelayShape,
      delay_24h: DelayShape,
    }),
  )
  .meta({ description: 'Progress of each dataset, and its delays in the last hour and day' })

const Gaps = z
  .object({
    missing_blocks: count.meta({ description: 'Missing blocks between stored ones' }),
    declared_count: count.meta({ description: 'Ranges that could not be read' }),
    declared: z
      .array(
        z.object({
          dataset: z.string().meta({ description: 'A family of facts' }),
          from_block: count.meta({ description: 'First block' }),
          to_block: count.meta({ description: 'Last block, included' }),
          reason: z.string().meta({ description: 'Why it could not be read' }),
        }),
      )
      .meta({ description: `Ranges, both ends included, that could not be read; at most ${MOST_GAPS}` }),
  })
  .meta({ description: 'Missing data' })

const Forks = z
  .object({
    noted_at: time.meta({ description: 'When the node was last asked for them' }),
    active: z.string().meta({ description: 'The newest fork that is active' }),
    unhandled: z
      .array(
        z.object({
          name: z.string().meta({ description: 'As the node calls it' }),
          activation_at: time.meta({ description: 'When it becomes, or became, active' }),
          is_active: z.boolean().meta({ description: 'Whether it is active' }),
        }),
      )
      .meta({ description: 'Forks, active or to come, that this version of ingest does not handle' }),
  })
  .nullable()
  .meta({ description: 'The forks of the chain; null if the node does not list them' })

const UnknownEvents = z
  .object({
    count: count.meta({ description: 'Kinds of them: contracts and topics' }),
    newest: z
      .array(UnknownEventRow)
      .meta({ description: `By contract and topic, the newest first; at most ${MOST_UNKNOWN}` }),
  })
  .meta({
    description:
      "Logs of the chain's own contracts that this version does not understand: the chain has moved on. Answers that they may change are partial from their first block on, for the reason unknown_event",
  })

const Agreement = z
  .object({
    blocks: count.meta({ description: 'Blocks at which both were read' }),
    quotes: count.meta({ description: 'Quotes of a token and of the sizes of depth that were compared' }),
    differences: count.meta({ description: 'Of them' }),
    disagreed: z
      .array(
        z.object({
          from_block: count.meta({ description: 'First block' }),
          to_block: count.meta({ description: 'Last block, included' }),
          from: time.meta({ description: 'Time of the first block' }),
          to: time.meta({ description: 'Time of the last block' }),
          stables: z.array(z.string()).meta({ description: `Stables whose quotes differed, at most ${MOST_STABLES}` }),
        }),
      )
      .meta({
        description: `Blocks of which the quotes of the node are stored, where it had them, because they were others, the newest first; at most ${MOST_DISAGREED} ranges`,
      }),
  })
  .meta({
    description:
      "Quotes are computed from the exchange's logs, and at some blocks compared with what the node answers: so far",
  })

const StorageState = z
  .object({
    least_free_share: z.number().min(0).max(1).nullable().meta({
      description: 'Free share of the fullest disk of the database; null if it cannot be read',
    }),
    replica_delay_seconds: count.nullable().meta({
      description:
        'How far the replica that is read is behind the others; null without replicas, or if it cannot be read',
    }),
    readonly_tables: count.nullable().meta({
      description: 'Tables of that replica that accept no rows; null as above',
    }),
    keeper_answers: z.boolean().nullable().meta({
      description:
        'Whether the Keeper of the replicas answers that replica; without it, nothing is written. Null as above',
    }),
    replicas_away: count.nullable().meta({
      description:
        'Other replicas that do not run, or have lost the Keeper; null as above, and while it does not answer',
    }),
  })
  .meta({ description: 'State of the database itself' })

const Invariants = z
  .object({
    started_at: time.meta({ description: 'When the check began' }),
    ended_at: time.meta({ description: 'When the check ended' }),
    findings: z
      .array(
        z.object({
          what: z.string().meta({ description: 'A table or an invariant' }),
          status: z.enum(['match', 'mismatch', 'not checked']).meta({ description: 'What was found' }),
          scope: z.string().meta({ description: 'What was checked, or why it was not' }),
        }),
      )
      .meta({ description: 'One for each table and invariant' }),
  })
  .nullable()
  .meta({ description: 'Findings of the newest check of the database against the chain; null before the first' })

const Jobs = z
  .array(
    z.object({
      job: z.string().meta({ description: 'Its name' }),
      period_seconds: count.meta({ description: 'From one slot to the next' }),
      last_slot_at: time.nullable().meta({ description: 'The newest slot that is done; null before the first' }),
      last_success_at: time.nullable().meta({ description: 'When a run last succeeded; null before the first' }),
      lag_seconds: z.int().nullable().meta({ description: 'How far last_slot_at is behind the newest block' }),
      is_late: z.boolean().meta({ description: 'Behind the chain for more than three runs that could be done' }),
      waiting_slots: count.meta({
        description: 'Slots that cannot be done yet, because facts that their results rest on are not read',
      }),
      waiting_reason: z.enum(WAIT_REASONS).nullable().meta({
        description:
          'Why they wait; null if none does. history_not_read: the history that the job needs before a slot is not read completely; blocks_missing: blocks after them are missing; backfill_running: a backfill is adding blocks or has just ended',
      }),
      waiting_until: time.nullable().meta({
        description:
          'Later slots do not wait; null if none waits. On a chain that is not read from its first block, and without a backfill, anomalies wait like this for the first week: nothing is searched until then',
      }),
      catch_up: z
        .object({
          due_slots: count.meta({ description: 'Slots that could be done now' }),
          done_slots: count.meta({
            description:
              'Slots that are done since the backfill or the rollback because of which the oldest one has to be done; without one, all that are done',
          }),
          oldest_slot_at: time.meta({ description: 'The oldest slot that could be done now' }),
          slots_per_second: z.number().nonnegative().nullable().meta({
            description: 'Speed of the last five minutes; null if it is not known, as before a second run has ended',
          }),
          eta_seconds: count.nullable().meta({ description: 'Time left at that speed; null if it is not known' }),
        })
        .nullable()
        .meta({ description: 'Progress with the slots that could be done now; null if there are none' }),
      done_24h: count.meta({ description: 'Runs that succeeded in the last 24 hours' }),
      failed_24h: count.meta({ description: 'Runs that failed in the last 24 hours' }),
      median_ms_24h: count.nullable().meta({ description: 'How long a run took, in milliseconds; null without one' }),
    }),
  )
  .meta({ description: 'State of the jobs' })

/** The answer of /status. */
export const Status = z.object({
  at: time.meta({ description: 'The instant at which the lags were measured' }),
  head: Head,
  node: Node,
  newest_block: z
    .object({
      block_number: count.meta({ description: 'Of that block' }),
      block_time: time.meta({ description: 'Of that block' }),
    })
    .nullable()
    .meta({ description: 'The newest stored block' }),
  catalogue: Catalogue,
  datasets: Datasets,
  gaps: Gaps,
  forks: Forks,
  unknown_events: UnknownEvents,
  agreement: Agreement,
  storage: StorageState,
  fees_kept_from: time.nullable().meta({
    description:
      'Fees of transactions before this instant may be let go of (RETAIN_FEES_PAID_DAYS); they are not compared, and no answer reads them. Null if all are kept',
  }),
  invariants: Invariants,
  jobs: Jobs,
})
