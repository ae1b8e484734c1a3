// Who holds a stable with a million holders, at random instants of its last days, against the plain SQL over all of its
// transfers; and the bytes on disk of a transfer and of a kept balance.
// node dist/test/bench/holders.js [--holders 1000000] [--days 20] [--daily 100000] [--rounds 40]
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { buildApp } from '../../api/app.js'
import { FAMILIES, insertCommittedBatch, insertPlannedBatch } from '../../clickhouse/chain/batches.js'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import { concentrations } from '../../clickhouse/holders/concentrations.js'
import { snapshotHolders } from '../../jobs/snapshot/holders.js'
import { median, percentile, timed } from './measure.js'
import { statsOf } from './process-stats.js'
import { rows, startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: {
    holders: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '20' },
    daily: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '40' },
  },
})
const [holders, days, daily, rounds] = [flags.holders, flags.days, flags.daily, flags.rounds].map(Number) as [
  number,
  number,
  number,
  number,
]
const HOUR = 3600
const DAY = 24 * HOUR
const WARM_UP = 5
const STABLE = `0x20c0${'0'.repeat(20)}${'0a'.repeat(8)}`

const end = Math.floor(Date.now() / 1000 / HOUR) * HOUR
const start = end - days * DAY
/** Blocks are as many seconds apart; block 1 is at `start`. */
const BLOCK_SECONDS = 60
const blocks = (days * DAY) / BLOCK_SECONDS + 1

const COLUMNS = '(stable, kind, sender, recipient, amount_raw, block_number, log_index, block_time)'
const address = (i: string): string => `'0x' || lower(hex(sipHash128(toUInt64(${i})))) || lower(hex(toUInt32(${i})))`
/** Where the n-th of `count` rows stands in the blocks. */
const place = (n: string, count: number, from: number, length: number): string =>
  `${from} + intDiv(${n} * ${length}, ${count}) AS block, ${n} % 100000, toDateTime(${start} + (block - 1) * ${BLOCK_SECONDS}, 'UTC')`

/** The same figures from every transfer, as one would write them. */
const plainSql = (at: number): string => `
  SELECT count() AS holder_count, sum(b) AS supply, sum(pow(toFloat64(b) / toFloat64(s), 2)) * 10000 AS hhi,
         sum((2 * rank - n - 1) * toFloat64(b)) / (any(n) * toFloat64(any(s))) AS gini, sumIf(toFloat64(b), n - rank < 10) AS top_10,
         sumIf(toFloat64(b), n - rank < 100) AS top_100
  FROM
  (
      SELECT b, row_number() OVER (ORDER BY b) AS rank, count() OVER () AS n, sum(b) OVER () AS s
      FROM
      (
          SELECT account, sum(change) AS b
          FROM transfers ARRAY JOIN [sender, recipient] AS account, [-toInt256(amount_raw), toInt256(amount_raw)] AS change
          WHERE stable = '${STABLE}' AND block_time <= toDateTime(${at}, 'UTC') AND account != '0x${'0'.repeat(40)}'
          GROUP BY account HAVING b > 0
      )
  )`

const stack = await startStack()
try {
  const { clickhouse } = await stack.database('holders')
  const insert = (select: string) => clickhouse.command({ query: `INSERT INTO transfers ${COLUMNS} ${select}` })
  await insertFacts(
    clickhouse,
    'stablecoins',
    [
      {
        ...{ stable: STABLE, symbol: 'S', name: 'S', currency: 'USD', truncated: [], quote_token: '', admin: '' },
        ...{ block_number: 1, log_index: 0, block_time: start, tx_hash: '' },
      },
    ],
    'stable',
  )
  await clickhouse.command({
    query: `INSERT INTO blocks (block_number, block_time, block_hash, parent_hash, tx_count, log_count)
            SELECT number + 1, toDateTime(${start} + number * ${BLOCK_SECONDS}, 'UTC'), toString(number + 1), toString(number), 1, 1 FROM numbers(${blocks})`,
  })
  const batch = { track: 'tip', sequence_number: 1, from_block: 1, to_block: blocks, last_hash: '', writer: '' }
  for (const write of [insertPlannedBatch, insertCommittedBatch])
    await write(clickhouse, { ...batch, families: FAMILIES, stables: [] })
  // Sizes of balances are log-normal: the largest are thousands of times the middle one.
  const normal = `sqrt(-2 * log((cityHash64(number, 1) % 1000003 + 1) / 1000005)) * cos(6.283185307179586 * (cityHash64(number, 2) % 1000003) / 1000003)`
  await insert(
    `SELECT '${STABLE}', 'mint', '0x${'0'.repeat(40)}', ${address('number')}, toUInt128(100000000 * exp(2 * ${normal})), ${place('number', holders, 2, 58)} FROM numbers(${holders})`,
  )
  // Each tenth goes to an account that had nothing; each pays a fee.
  for (let day = 0; day < days; day++) {
    const n = `(${day * daily} + number)`
    const at = place('number', daily, day * 1440 + 61, day === days - 1 ? 1379 : 1440)
    const sender = address(`cityHash64(${n}, 3) % ${holders}`)
    await insert(
      `SELECT '${STABLE}', 'transfer', ${sender}, ${address(`if(${n} % 10 = 0, ${2 * holders} + ${n}, cityHash64(${n}, 4) % ${holders})`)}, toUInt128(1 + cityHash64(${n}, 5) % 1000), ${at} FROM numbers(${daily})`,
    )
    await insert(
      `SELECT '${STABLE}', 'fee', ${sender}, '0xfeec000000000000000000000000000000000000', toUInt128(1 + ${n} % 3), ${at} FROM numbers(${daily})`,
    )
  }
  await clickhouse.command({ query: 'OPTIMIZE TABLE transfers FINAL' })
  let [kept, snapshots] = [0, 0]
  const took: number[] = []
  for (let at = start + HOUR; at < end; at += HOUR) {
    const ms = await timed(async () => {
      const slot = { job: 'holders', at: new Date(at * 1000), revision: 0, read_since: 0, token: `holders:${at}` }
      const written = await snapshotHolders(clickhouse, slot)
      kept += written
      snapshots += written > 0 ? 1 : 0
    })
    took.push(ms)
  }
  await clickhouse.command({ query: 'OPTIMIZE TABLE holder_balances FINAL' })
  const size = async (table: string) => {
    const [found] = await rows<{ bytes: number; n: number }>(
      clickhouse,
      `SELECT toFloat64(sum(bytes_on_disk)) AS bytes, toFloat64(sum(rows)) AS n FROM system.parts WHERE active AND database = 'holders' AND table = '${table}'`,
    )
    return found ?? { bytes: 0, n: 0 }
  }
  const [facts, balances] = [await size('transfers'), await size('holder_balances')]
  console.log(
    `${facts.n} transfers, ${(facts.bytes / facts.n).toFixed(1)} B each; ${snapshots} snapshots with ${kept} balances, ${(balances.bytes / balances.n).toFixed(1)} B each: ${((facts.bytes + balances.bytes) / facts.n).toFixed(1)} B a transfer with them; a slot took p50 ${median(took).toFixed(0)} ms, at most ${Math.max(...took).toFixed(0)} ms`,
  )
  const app = await buildApp({ clickhouse, now: () => new Date(end * 1000), logger: pino({ level: 'silent' }) })
  const times: Record<'served' | 'plain' | 'risk', number[]> = { served: [], plain: [], risk: [] }
  const cpu = { served: 0, plain: 0 }
  for (let round = 0; round < rounds + WARM_UP; round++) {
    const as_of = end - 1 - ((round * 104_729) % ((days - 1) * DAY))
    const marks = [statsOf(stack.pid).cpuSeconds]
    let answer: { holder_count: number; hhi: number; gini: number } | undefined
    const served = await timed(async () => {
      const { statusCode, body } = await app.inject(`/api/v1/stablecoins/${STABLE}/holders?as_of=${as_of}`)
      answer = JSON.parse(body)
      if (statusCode !== 200) throw new Error(body)
    })
    marks.push(statsOf(stack.pid).cpuSeconds)
    const plain = await timed(async () => {
      const [found] = await rows<{ holder_count: string; hhi: number; gini: number }>(clickhouse, plainSql(as_of))
      const isSame = (one: number, other: number): boolean => Math.abs(one - other) < 1e-9 * Math.abs(one)
      if (
        !found ||
        Number(found.holder_count) !== answer?.holder_count ||
        !isSame(found.hhi, answer.hhi) ||
        !isSame(found.gini, answer.gini)
      )
        throw new Error(`as of ${as_of}: ${JSON.stringify(answer)}, not ${JSON.stringify(found)}`)
    })
    marks.push(statsOf(stack.pid).cpuSeconds)
    // What a slot of the risk job needs of the holders.
    const risk = await timed(async () => {
      const found = await concentrations(clickhouse, { stables: [STABLE], at: new Date(as_of * 1000) })
      if (Math.abs((found.get(STABLE)?.hhi ?? 0) - (answer?.hhi ?? 0)) > 1e-9)
        throw new Error(`as of ${as_of}: the index is ${found.get(STABLE)?.hhi}, not ${answer?.hhi}`)
    })
    const [before, between, after] = marks
    if (round < WARM_UP || !before || !between || !after) continue
    cpu.served += between - before
    cpu.plain += after - between
    times.served.push(served)
    times.plain.push(plain)
    times.risk.push(risk)
  }
  await app.close()
  const shown = (all: number[]): string =>
    `p50 ${median(all).toFixed(1)} ms, p95 ${percentile(all, 0.95).toFixed(1)} ms, best ${Math.min(...all).toFixed(1)} ms`
  console.log(
    `${holders} holders: GET /holders?as_of= ${shown(times.served)}; only the index, for risk ${shown(times.risk)}; plain SQL ${shown(times.plain)}; ratio of the medians ${(median(times.served) / median(times.plain)).toFixed(3)}, of the engine's CPU time ${(cpu.served / cpu.plain).toFixed(3)} (${((1000 * cpu.served) / rounds).toFixed(0)} ms each)`,
  )
} finally {
  await stack.close()
}
