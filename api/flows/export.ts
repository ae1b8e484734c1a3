import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { OF_FLOWS } from '../../clickhouse/chain/unknown-events.js'
import { flowPageEnd, flowRows } from '../../clickhouse/flows/export.js'
import { blockTimestamp, logIndex, txHash } from '../../clickhouse/store/values.js'
import { CursorQuery } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { exportResponse } from '../answers/export.js'
import { costOfRows, RangeQuery } from '../answers/range.js'

const uint32 = z.int().min(0).max(0xffff_ffff)

/** Time, block number and log index of the last flow of a page. */
const FlowPosition = z.tuple([uint32, z.int().min(0), uint32])

const amount = z.string().regex(/^\d+$/)

const FlowRow = z.object({
  block_time: blockTimestamp,
  block_number: z.string().regex(/^\d+$/).meta({ description: 'Height of the block' }),
  log_index: logIndex,
  tx_hash: txHash,
  kind: z.enum(['swap', 'transfer', 'bridge']).meta({ description: 'Kind of flow' }),
  from: z.string().meta({ description: 'Symbol of the stable sent, as its issuer wrote it' }),
  to: z.string().meta({ description: 'Symbol of the stable received, as its issuer wrote it' }),
  from_address: z.string().meta({ description: 'Address of the stable sent' }),
  to_address: z.string().meta({ description: 'Address of the stable received' }),
  account: z.string().meta({ description: 'Address of the account that sent and received' }),
  amount_in: amount.meta({ description: 'Base units of the stable sent' }),
  amount_out: amount.meta({ description: 'Base units of the stable received' }),
  usd_value: z
    .string()
    .regex(/^\d+\.\d{6}$/)
    .nullable()
    .meta({ description: 'USD with six decimals, at the prices of that block; null when neither stable had one' }),
  path: z.array(z.string()).meta({ description: 'The stables that a swap went through, both ends included' }),
  remote_chain: z.string().nullable().meta({ description: 'Of a bridge: eid:<LayerZero endpoint id> or zone:<id>' }),
})

/** In the reference stable. */
const PRICE = '0.02'

/** Every single flow of a range of time, in chain order. */
export const flowsExportRoute = endpoint({
  path: '/stablecoins/flows/export',
  tag: 'flows',
  operationId: 'exportFlows',
  summary: 'Every movement between stables in a range of time',
  description: `Costs ${PRICE} of the reference stable per query, nothing with a subscription key. Pages of rows in the order of the chain.`,
  about: 'range',
  query: { ...RangeQuery, cursor: CursorQuery(FlowPosition) },
  response: exportResponse({ coverage: Coverage }, FlowRow),
  price: PRICE,
  cost: ({ query }) => costOfRows(query.limit),
  covers: ({ range: { from, to } }) => ({
    families: ['logs'],
    logsOf: OF_FLOWS,
    from,
    to: Math.max(from, to - 1),
    isPriced: true,
  }),
  answer: async ({ app, range: { from: start, to }, query, signal }) => {
    const { limit, cursor: [time, after_block, after_log] = [0, 0, 0] } = query
    const range = { from: Math.max(start, time), to, after_block, after_log }
    const ends = await flowPageEnd(app.clickhouse, { ...range, last_offset: limit - 1 }, { signal })
    // Flows at the same position stay together, so that the next page begins after all of them.
    const [end] = ends.length > 1 ? ends : []
    const last = { last_block: end?.block ?? Number.MAX_SAFE_INTEGER, last_log: end?.log ?? 0 }
    return {
      filename: `flows-${range.from}-${to}`,
      head: {},
      next: end ? [end.time, end.block, end.log] : null,
      rows: (options) => flowRows(app.clickhouse, { ...range, ...last }, options),
    }
  },
})
