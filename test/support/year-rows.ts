import type { ClickHouseClient } from '@clickhouse/client'
import { SLOT_JOBS } from '../../clickhouse/jobs/periods.js'

/** How much of everything there is a day, besides the slots of all jobs, which are as many as the jobs have. */
export type Days = { days: number; events: number; subscriptions: number; payments: number }

/** The subscription with this number, from 0. */
export const subscriptionId = (number: number): string => `wh_${number.toString(16).padStart(16, '0')}`

/** The data of the event of an anomaly. */
const ANOMALY = JSON.stringify({
  from_token: '0xaa',
  to_token: '0xbb',
  kind: 'surge',
  window_start: '2026-01-01T00:00:00Z',
  observed_flow_usd: 12,
  baseline_mean_usd: 3,
  baseline_stddev_usd: 2,
  z_score: 4.5,
  tx_count: 3,
  baseline_windows: 672,
  observations: 500,
  active_mean_usd: 3,
  active_stddev_usd: 2,
  silent_windows: null,
  longest_silence_windows: null,
  silence_probability: null,
})

/** The hash of the transaction of the payment with this number, and its challenge, in SQL. */
const txHash = (number: string) =>
  `concat('0x', lower(hex(sipHash128(${number}))), lower(hex(sipHash128(${number} + 1))))`

/**
 * Fills an empty database with what the jobs, webhooks and payments of `days` days leave, up to `now`: all slots done and one
 * run in 200 failed before; events of all types, each sent to all subscriptions, one attempt in 50 failed first; the
 * newest subscription has failed for two days, and the first has been quiet for half of the time. A block a day.
 */
export async function fillDays(
  clickhouse: ClickHouseClient,
  { days, events, subscriptions, payments }: Days,
  now: Date,
): Promise<void> {
  const end = Math.floor(now.getTime() / 1000)
  const start = end - days * 86_400
  const insert = (query: string) =>
    clickhouse.command({
      query: `${query} SETTINGS max_insert_threads = 1, max_partitions_per_insert_block = 10000`,
      clickhouse_settings: { insert_deduplicate: 0 },
    })
  // Several parts, as merges leave them.
  const inParts = async (rows: number, query: (numbers: string) => string) => {
    const ends = [0, Math.floor(rows / 2), rows - Math.min(rows, 500), rows]
    for (const [i, to] of ends.entries()) {
      const from = ends[i - 1] ?? 0
      if (to > from) await insert(query(`numbers(${from}, ${to - from})`))
    }
  }
  await insert(`
    INSERT INTO blocks (block_number, block_hash, parent_hash, block_time, tx_count, log_count)
    SELECT number + 1, toString(number + 1), toString(number), toDateTime(${start} + number * 86400), 0, 0 FROM numbers(${days + 1})`)
  await insert(`
    INSERT INTO ingest_batches (track, sequence_number, state, from_block, to_block, last_hash, writer, recorded_at, families)
    SELECT 'tip', 1, arrayJoin(['planned', 'committed']), 1, ${days + 1}, '0x', 'writer', toDateTime64(${start}, 3), ['catalogue', 'logs', 'pegs', 'state']`)
  for (const { name, period_seconds } of SLOT_JOBS) {
    const first = Math.floor(start / period_seconds) + 1
    await inParts(
      Math.floor((end - 1) / period_seconds) - first + 1,
      (numbers) => `
      INSERT INTO job_runs (job, slot_at, revision, state, result_rows, error, started_at, duration_ms, instance)
      SELECT '${name}', toDateTime(slot), 0, state, 3, '', toDateTime64(slot + if(state = 'done', 2, 1), 3), 40 + slot % 17, 'instance'
      FROM (SELECT (${first} + number) * ${period_seconds} AS slot, arrayJoin(if(number % 200 = 7, ['failed', 'done'], ['done'])) AS state FROM ${numbers})`,
    )
  }
  await inParts(
    days * 24,
    (numbers) => `
    INSERT INTO job_leases (term, state, instance, recorded_at)
    SELECT number + 1, arrayJoin(['claimed', 'held', 'released']), toString(number), toDateTime64(${start} + number * 3600, 3) FROM ${numbers}`,
  )
  const eventSeconds = 86_400 / events
  const typeOf = (number: string) => `
    multiIf(${number} % 200 = 199, 'event.retracted', ${number} % 100 = 98, 'system.health_drift',
            ['flow_anomaly.detected', 'peg_break.started', 'peg_break.ended'][1 + intDiv(${number}, 2) % 3])`
  await inParts(
    days * events,
    (numbers) => `
    INSERT INTO events (sequence_number, id, type, subject, stables, data, occurred_at, slot_at, revision, retracted_type, recorded_at)
    SELECT number + 1, 'evt_' || lower(hex(sipHash128(number))), ${typeOf('number')} AS kind,
           multiIf(kind = 'event.retracted', 'evt_' || lower(hex(sipHash128(number - 9))), kind = 'system.health_drift', 'job:' || toString(number % 7),
                   startsWith(kind, 'peg_break'), concat('0xaa', toString(number % 20), ':mild:', toString(at - 60 - at % 600), ':7'), '0xaa:0xbb:' || toString(at)),
           if(kind = 'system.health_drift', [], ['0xaa' || toString(number % 20)]),
           multiIf(kind = 'system.health_drift', '{"status":"ok"}', kind = 'flow_anomaly.detected', '${ANOMALY}',
                   '{"retracted":false,"max_deviation_bps":12.5,"ended_at":"2026-01-01T00:00:00Z","ended_block":7}'),
           toDateTime(at), toDateTime(at), 0, '', toDateTime64(at + 2, 3)
    FROM (SELECT number, toUInt32(${start} + number * ${eventSeconds}) AS at FROM ${numbers})`,
  )
  const delivered = `number AS delivery, intDiv(number, ${subscriptions}) AS event, toUInt32(${start} + event * ${eventSeconds}) + 2 AS at`
  const receiver = `concat('wh_', leftPad(lower(hex(number % ${subscriptions})), 16, '0'))`
  const isQuiet = `number % ${subscriptions} = 0 AND number > ${(days * events * subscriptions) / 2}`
  const all = days * events * subscriptions
  await inParts(
    all,
    (numbers) => `
    INSERT INTO webhook_deliveries (delivery_id, subscription_id, kind, event_id, event_sequence, event_type, data, cause, event_at, published_at, recorded_at)
    SELECT delivery + 1, ${receiver}, 'event', 'evt_' || lower(hex(sipHash128(event))), event + 1, ${typeOf('event')}, '{"status":"ok"}', '',
           toDateTime64(at, 3), toDateTime64(at, 3), toDateTime64(at, 3)
    FROM (SELECT number, ${delivered} FROM ${numbers}) WHERE NOT (${isQuiet})`,
  )
  await inParts(
    all,
    (numbers) => `
    INSERT INTO webhook_attempts (delivery_id, attempt, subscription_id, outcome, status, error, response, due_at, started_at, duration_ms, next_attempt_at, instance)
    SELECT delivery + 1, attempt, ${receiver},
           if(is_dead OR tries > attempt, 'failure', 'success'), if(is_dead OR tries > attempt, 500, 200), '', 'ok', toDateTime64(at, 3), toDateTime64(at + 30 * (attempt - 1), 3) AS begun, 12,
           if(tries > attempt, begun + 30, NULL), 'instance'
    FROM (SELECT number, ${delivered}, number % ${subscriptions} = ${subscriptions - 1} AND at > ${end - 172_800} AS is_dead, if(NOT is_dead AND number % 50 = 3, 2, 1) AS tries FROM ${numbers})
    ARRAY JOIN range(1, tries + 1) AS attempt
    WHERE NOT (${isQuiet})`,
  )
  // Merges have built the summaries.
  await clickhouse.command({
    query: 'ALTER TABLE webhook_attempts MATERIALIZE PROJECTION ends',
    clickhouse_settings: { mutations_sync: '1' },
  })
  await insert(`
    INSERT INTO webhook_subscriptions (id, version, change, url, event_types, format, state, created_at, changed_at)
    SELECT ${receiver}, 1, toString(number), 'https://example.org/', [], 'plumbline', 'enabled', toDateTime64(${start}, 3), toDateTime64(${start}, 3) FROM numbers(${subscriptions})`)
  await inParts(
    days * 1440,
    (numbers) => `
    INSERT INTO webhook_fan_outs (sequence_number, settled_before, recorded_at)
    SELECT intDiv(number * ${events}, 1440), intDiv(number * ${events}, 1440) * ${subscriptions}, toDateTime64(${start} + number * 60, 3) FROM ${numbers}`,
  )
  await inParts(
    days * payments,
    (numbers) => `
    INSERT INTO payments (challenge_id, step, attempt, claim, credential_digest, scope, mode, payer, recipient, currency, amount_raw, chain_id, realm, tx_hash, recorded_at)
    SELECT ${challengeId('number')}, arrayJoin(['accepted', 'settled', 'answered']), 0, toString(number), toString(number), '/v1/x', 'push', '0xpayer', '0xrecipient', '0xusd', 1000, 1, 'host',
           ${txHash('number')}, toDateTime64(${start} + number * ${86_400 / payments}, 3)
    FROM ${numbers}`,
  )
}

/** The challenge of the payment with this number, from 0, in SQL. */
const challengeId = (number: string): string => `base64URLEncode(unhex(hex(sipHash128(${number} + 77))))`

/** The id and the transaction of the payment with this number. */
export async function paymentWith(clickhouse: ClickHouseClient, number: number) {
  const query = `SELECT ${challengeId(`toUInt64(${number})`)} AS challenge_id, ${txHash(`toUInt64(${number})`)} AS tx_hash`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{
    challenge_id: string
    tx_hash: string
  }>()
  if (!row) throw new Error('no row')
  return row
}

/** The id of the event with this number of the log. */
export async function eventWith(clickhouse: ClickHouseClient, sequence: number): Promise<string> {
  const query = `SELECT 'evt_' || lower(hex(sipHash128(toUInt64(${sequence - 1})))) AS id`
  const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ id: string }>()
  return row?.id ?? ''
}
