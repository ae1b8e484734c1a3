// Rewards, fee economics, roles, and the list of a thousand stables, live and as of any moment: what a hundred times as
// many facts cost. Reads go through the API in this process.
import { pino } from 'pino'
import { buildApp } from '../../api/app.js'
import { percentile, timed } from './measure.js'
import { startStack } from './stack.js'

const SIZES = [10_000, 1_000_000]
const STABLES = 1000
const ROUNDS = 12
const SPAN = 180 * 86_400

const end = Math.floor(Date.now() / 1000) - 60

/** Half of the rows are one stable's; the others are of the other stables. Times are spread over half a year. */
const stable = (id: string): string => `concat('0x20c1${'0'.repeat(30)}', toString(100000 + ${id}))`
const mixed = stable('if(number % 2 = 0, 1, number % 1000 + 1)')
const account = (id: string): string => `concat('0xacc${'0'.repeat(30)}', toString(1000000 + ${id}))`
const FIRST = `0x20c1${'0'.repeat(30)}100001`

/** What an event has besides its own columns: block, log, time and transaction. */
const place = (rows: number): string =>
  `number + 1, number % 7, toDateTime(${end - SPAN}) + intDiv(number * ${SPAN}, ${rows}), concat('0x${'0'.repeat(57)}', toString(1000000 + number))`
const PLACE = 'block_number, log_index, block_time, tx_hash'

const STABLECOINS = `INSERT INTO stablecoins (stable, symbol, name, currency, quote_token, admin, block_number, log_index, block_time, tx_hash) SELECT ${stable('number + 1')}, concat('S', toString(number)), 'Stable', 'USD', '', '', 1, number, toDateTime(${end - SPAN}), '0x00' FROM numbers(${STABLES})`

/** A statement inserts no more rows, so that none takes long. */
const CHUNK = 100_000
const chunks = (rows: number): string[] =>
  Array.from({ length: Math.ceil(rows / CHUNK) }, (_, i) => `numbers(${i * CHUNK}, ${Math.min(CHUNK, rows)})`)

const inserts = (rows: number): string[] => [
  `INSERT INTO blocks SELECT number + 1, toDateTime(${end - SPAN}) + intDiv(number * ${SPAN}, ${rows}), '', '', 1, 1`,
  `INSERT INTO reward_distributions (stable, funder, amount_raw, ${PLACE}) SELECT ${mixed}, ${account('cityHash64(number) % 1000')}, number * 1000, ${place(rows)}`,
  `INSERT INTO reward_recipients (stable, holder, recipient, ${PLACE}) SELECT ${mixed}, ${account(`cityHash64(number) % ${rows / 5}`)}, ${account('number % 97')}, ${place(rows)}`,
  `INSERT INTO fee_elections (kind, account, stable, ${PLACE}) SELECT if(number % 10 = 0, 'validator', 'user'), ${account(`cityHash64(number) % ${rows / 5}`)}, ${mixed}, ${place(rows)}`,
  `INSERT INTO fee_distributions (validator, stable, amount_raw, ${PLACE}) SELECT ${account('number % 50')}, ${mixed}, number * 1000, ${place(rows)}`,
  `INSERT INTO role_events (kind, stable, role, role_name, account, sender, ${PLACE}) SELECT if(number % 3 = 0, 'revoked', 'granted'), ${stable(`number % ${STABLES} + 1`)}, toString(number % 5), '', ${account('cityHash64(number) % 40')}, '', ${place(rows)}`,
  `INSERT INTO state_reads (stable, supply_raw, cap_raw, paused, policy_id, policy_type, opted_in_raw, reward_per_token_raw, block_number, block_time) SELECT ${stable(`number % ${STABLES} + 1`)}, number, 0, false, 1, 'allow_all', 1000000, 1, intDiv(number, ${STABLES}), toDateTime(${end}) - 300 * (${rows / STABLES} - 1 - intDiv(number, ${STABLES}))`,
  `INSERT INTO peg_samples (stable, block_number, block_time, elapsed_seconds, status, sell_micros, buy_micros) SELECT ${stable(`number % ${STABLES} + 1`)}, intDiv(number, ${STABLES}), toDateTime(${end}) - 300 * (${rows / STABLES} - 1 - intDiv(number, ${STABLES})), 60, 'quoted', 1000000, 1000100`,
]

const PATHS = [
  `stablecoins/${FIRST}/rewards`,
  'fee-economics/overview',
  `stablecoins/${FIRST}/roles`,
  'stablecoins',
  `stablecoins/${FIRST}`,
]

const stack = await startStack()
try {
  const p50s = new Map<string, number[]>()
  for (const size of SIZES) {
    const { clickhouse } = await stack.database(`economy_${size}`)
    await clickhouse.command({ query: STABLECOINS })
    for (const insert of inserts(size))
      for (const numbers of chunks(size)) await clickhouse.command({ query: `${insert} FROM ${numbers}` })
    const app = await buildApp({ clickhouse, now: () => new Date(end * 1000), logger: pino({ level: 'silent' }) })
    for (const path of PATHS) {
      for (const kind of ['live', 'as_of']) {
        const times: number[] = []
        for (let round = 0; round < ROUNDS; round++) {
          // Any time at which the smaller of the two has a state and a price of every stable.
          const query = kind === 'live' ? '' : `?as_of=${end - ((round * 7919) % 2000)}`
          times.push(
            await timed(async () => {
              const { statusCode, body } = await app.inject(`/api/v1/${path}${query}`)
              if (statusCode !== 200) throw new Error(body)
            }),
          )
        }
        const what = `${path.replace(FIRST, '…')} ${kind}`
        p50s.set(what, [...(p50s.get(what) ?? []), percentile(times.slice(3), 0.5)])
      }
    }
    await app.close()
  }
  for (const [what, [small = 0, large = 0]] of p50s)
    console.log(
      `${what.padEnd(30)} p50 ${small.toFixed(1)} ms at 1e4 rows a table, ${large.toFixed(1)} ms at 1e6: ${(large / small).toFixed(1)}x`,
    )
} finally {
  await stack.close()
}
