import { ONE_TOKEN, type QuoteStatus } from '../../clickhouse/peg/peg.js'
import { type BlockId, multicallsFor, runMulticalls } from './multicall.js'
import type { CallResult } from './multicall-answer.js'
import { quoteCalls, quoteOf } from './quote-calls.js'
import type { Rpc } from './rpc.js'

/** Quotes of one token in micro-units of the reference stable. `status` tells of the sell quote. */
export type Quote = { status: QuoteStatus; sellMicros: number | null; buyMicros: number | null }

/** The multicalls that ask for both quotes of each stable. */
export const quoteMulticalls = multicallsFor((stable) => quoteCalls(stable, ONE_TOKEN))

const micros = (amount: bigint | null): number | null => (amount === null ? null : Number(amount))

/**
 * What one token of each stable sells for and costs on the DEX at the end of a block. One quote a stable, in their
 * order. Rejects with StateUnavailableError where the node no longer knows.
 */
export async function readQuotes(rpc: Rpc, stables: readonly string[], block: BlockId): Promise<Quote[]> {
  const results = await runMulticalls(rpc, quoteMulticalls(stables), block)
  return stables.map((_, i) => {
    const sell = quoteOf(results[2 * i] as CallResult)
    const buy = quoteOf(results[2 * i + 1] as CallResult)
    return { status: sell.status, sellMicros: micros(sell.amount), buyMicros: micros(buy.amount) }
  })
}
