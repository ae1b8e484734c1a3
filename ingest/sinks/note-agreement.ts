import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import {
  type DisagreedRange,
  insertDisagreement,
  insertQuoteCheck,
  MOST_STABLES,
} from '../../clickhouse/chain/quote-checks.js'
import type { Batch } from '../batch/complete-batch.js'

/** How often a warning of the same kind is repeated, in milliseconds. */
const WARN_MS = 3_600_000

/** Records how the quotes of a batch compare with the node's. Repeating it changes nothing. */
export type NoteAgreement = (batch: Batch, round: string) => Promise<void>

/**
 * Returns what records how the quotes of each batch compare with the node's, and warns, now and then, of differences and of logs
 * that contradict each other.
 */
export function createAgreementNotes(clickhouse: ClickHouseClient, log: Logger): NoteAgreement {
  const warnedAt = new Map<string, number>()
  const warn = (what: string, details: object): void => {
    const isDue = performance.now() >= (warnedAt.get(what) ?? Number.NEGATIVE_INFINITY) + WARN_MS
    if (isDue) warnedAt.set(what, performance.now())
    log[isDue ? 'warn' : 'debug'](details, what)
  }
  /** The stretch that the next batch may go on. */
  let stretch: DisagreedRange | null = null

  return async ({ agreement, contradictions, from, to, firstTime, lastTime, lastHash }, round) => {
    if (contradictions.length > 0)
      warn(
        'logs of the exchange contradict each other: quotes of the books that they may concern are read from the node',
        { from, to, count: contradictions.length, first: contradictions[0] },
      )
    if (agreement === null || agreement.blocks === 0) return
    const { blocks, quotes, differences } = agreement
    if (differences.length > 0) {
      warn("the quotes of the exchange's books are not the node's: those of the node are taken", {
        ...{ from, to, quotes, differences: differences.length, first: differences[0] },
      })
      const before: DisagreedRange | null = stretch?.to_block === from - 1 ? stretch : null
      const stables = new Set([...(before?.stables ?? []), ...differences.map(({ stable }) => stable)])
      stretch = {
        ...{ from_block: before?.from_block ?? from, to_block: to },
        ...{ from_time: before?.from_time ?? firstTime, to_time: lastTime },
        stables: [...stables].slice(0, MOST_STABLES),
      }
      await insertDisagreement(clickhouse, stretch)
    }
    const check = { time: lastTime, blocks, quotes, differences: differences.length }
    await insertQuoteCheck(clickhouse, check, `${from}-${to}:${lastHash}${round}`)
  }
}
