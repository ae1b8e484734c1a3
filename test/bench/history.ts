import type { ClickHouseClient } from '@clickhouse/client'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { EXTENDED_RISK_VERSION } from '../../clickhouse/risk/extended/score.js'

/** Stables of a generated history, each sampled once a minute. */
export const HISTORY_STABLES = 30
const MINUTE = 60
/** So that no insert is in more than a few months, and none takes long. */
const CHUNK_MINUTES = 50_000

const stable = (id: string): string => `concat('0x20c1', leftPad(lower(hex(toUInt32(${id}))), 36, '0'))`
const account = (id: string): string => `concat('0xacc', leftPad(lower(hex(toUInt32(${id}))), 37, '0'))`

/** The address of a stable of a generated history. */
export const historyStable = (i: number): string => `0x20c1${i.toString(16).padStart(36, '0')}`

/** Statements that fill the minutes with numbers from `first` on, `count` of them; `start` is the unix time of minute 0. */
function inserts(start: number, first: number, count: number): string[] {
  const time = (seconds: string): string => `toDateTime(${start} + ${seconds}, 'UTC')`
  /** One row for each stable every `minutes`, with `n` counting the turns and `i` the stables. */
  const each = (minutes: number, columns: string): string => {
    const from = Math.ceil(first / minutes)
    const turns = Math.max(0, Math.ceil((first + count) / minutes) - from)
    return `SELECT ${columns} FROM (SELECT ${from} + intDiv(number, ${HISTORY_STABLES}) AS n, number % ${HISTORY_STABLES} AS i, n * ${minutes} AS minute FROM numbers(${turns * HISTORY_STABLES}))`
  }
  const at = time('minute * 60')
  const place = `minute + 1, i, ${at}, hex(sipHash128(n, i))`
  const PLACE = 'block_number, log_index, block_time, tx_hash'
  const price = `1000000 + toInt32(cityHash64(intDiv(minute, 15), i) % 9) * 100 - 400 - if(minute % 360 < 8, 1500, 0)`
  /** A run of every slot of a job, as a detector that keeps up leaves them. */
  const runsOf = (job: string, period: number): string => {
    const slot = Math.ceil((start + first * MINUTE) / period)
    const slots = Math.max(0, Math.ceil((start + (first + count) * MINUTE) / period) - slot)
    return `INSERT INTO job_runs SELECT '${job}', toDateTime((${slot} + number) * ${period}, 'UTC'), 0, 'done', 1, '', now64(3), 1, '' FROM numbers(${slots})`
  }
  return [
    `INSERT INTO blocks SELECT ${first} + number + 1, ${time(`(${first} + number) * 60`)}, '', '', 1, 1 FROM numbers(${count})`,
    `INSERT INTO peg_samples (stable, block_number, block_time, elapsed_seconds, status, sell_micros, buy_micros) ${each(1, `${stable('i')}, minute + 1, ${at}, 60, 'quoted', ${price} AS price, price + 200`)}`,
    `INSERT INTO flows (kind, from_token, to_token, account, amount_in_raw, amount_out_raw, usd_micros, path, ${PLACE}) ${each(1, `'swap', ${stable('i')}, ${stable(`(i + 1 + cityHash64(n) % 5) % ${HISTORY_STABLES}`)}, ${account('cityHash64(n, i) % 10000')}, 1000000, 999000, 1000000 + cityHash64(n, i) % 100000000, [], ${place}`)}`,
    `INSERT INTO state_reads (stable, supply_raw, cap_raw, paused, policy_id, policy_type, opted_in_raw, reward_per_token_raw, block_number, block_time) ${each(5, `${stable('i')}, 1000000000 + n, 0, false, 1, 'allow_all', 1000000, n, minute + 1, ${at}`)}`,
    `INSERT INTO depth_samples (stable, size_tokens, block_number, block_time, sell_status, sell_raw, buy_status, buy_raw) ${each(5, `${stable('i')}, 1000, minute + 1, ${at}, 'quoted', 999000000, 'quoted', 1001000000`)}`,
    `INSERT INTO risk_snapshots (stable, slot_at, revision, methodology, composite, peg_risk, peg_break_risk, supply_risk, policy_risk, policy_id, policy_type, supply_raw, cap_raw, paused, state_block_number) ${each(5, `${stable('i')}, ${at}, 0, '1', n % 100, n % 90, 0, 10, 10, 1, 'allow_all', 1, 0, false, 1`)}`,
    `INSERT INTO extended_snapshots (stable, slot_at, revision, version, score, peg, breaks, liquidity, concentration, issuance, policy, size_tokens, exit_cost_bps) ${each(5, `${stable('i')}, ${at}, 0, '${EXTENDED_RISK_VERSION}', n % 100, n % 90, 0, 20, 10, 10, 10, [1000], [1.5]`)}`,
    `INSERT INTO reserve_snapshots (stable, slot_at, revision, reserve_type, supply_raw, price_micros) ${each(60, `${stable('i')}, ${at}, 0, 'unknown', 1000000, 1000000`)}`,
    `INSERT INTO peg_breaks (track, stable, severity, started_at, started_block, confirmed_at, ended_at, ended_block, max_deviation_micros, revision, slot_at, is_deleted) ${each(360, `'published', ${stable('i')}, 'mild', ${at}, minute + 1, ${at} + 300, ${at} + 480, minute + 9, 1900, 0, ${at} + 600, 0`)}`,
    `INSERT INTO flow_anomalies (window_start, from_token, to_token, observed_micros, tx_count, bucket_count, observation_count, baseline_sum, baseline_square_sum, revision, is_deleted) ${each(1440, `${at}, ${stable('i')}, ${stable(`(i + 1) % ${HISTORY_STABLES}`)}, 100000000, 1, 672, 600, 600000000, 1200000000000000, 0, 0`)}`,
    `INSERT INTO reward_distributions (stable, funder, amount_raw, ${PLACE}) ${each(60, `${stable('i')}, ${account('n % 20')}, 1000, ${place}`)}`,
    `INSERT INTO reward_recipients (stable, holder, recipient, ${PLACE}) ${each(60, `${stable('i')}, ${account('cityHash64(n) % 10000')}, ${account('n % 97')}, ${place}`)}`,
    `INSERT INTO fee_elections (kind, account, stable, ${PLACE}) ${each(60, `'user', ${account('cityHash64(n, i) % 10000')}, ${stable('i')}, ${place}`)}`,
    `INSERT INTO fee_distributions (validator, stable, amount_raw, ${PLACE}) ${each(60, `${account('n % 20')}, ${stable('i')}, 1000, ${place}`)}`,
    `INSERT INTO role_events (kind, stable, role, role_name, account, sender, ${PLACE}) ${each(10_080, `'granted', ${stable('i')}, toString(n % 5), '', ${account('n % 40')}, '', ${place}`)}`,
    ...Object.entries(PERIOD_SECONDS).map(([job, period]) => runsOf(job, period)),
  ]
}

/**
 * Fills a migrated database with a history of `samples` peg samples and as many flows, at the density that they have on
 * the chain, and with the snapshots, events and other facts that belong to it. It ends at `end`, in unix seconds: more
 * samples are a longer history. Returns when it begins.
 */
export async function generateHistory(clickhouse: ClickHouseClient, samples: number, end: number): Promise<number> {
  const minutes = Math.floor(samples / HISTORY_STABLES)
  const start = end - (minutes - 1) * MINUTE
  await clickhouse.command({
    query: `INSERT INTO stablecoins (stable, symbol, name, currency, quote_token, admin, block_number, log_index, block_time, tx_hash) SELECT ${stable('number')}, concat('S', toString(number)), 'Stable', 'USD', '', '', 1, number, toDateTime(${start}, 'UTC'), '' FROM numbers(${HISTORY_STABLES})`,
  })
  for (let first = 0; first < minutes; first += CHUNK_MINUTES)
    for (const query of inserts(start, first, Math.min(CHUNK_MINUTES, minutes - first)))
      await clickhouse.command({ query, clickhouse_settings: { max_insert_block_size: '1048576' } })
  return start
}
