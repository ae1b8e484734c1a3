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
  /** The stretch that the next batch may go on, the hash of its last block, and what it was before that batch. */
  let newest: { stretch: DisagreedRange; scope: string; lastHash: string; before: DisagreedRange | null } | null = null

  /** The stretch before a batch: what the newest one is, or was if the batch is noted again. */
  function before({ from, lastHash }: Batch, scope: string): DisagreedRange | null {
    if (newest?.scope !== scope) return null
    if (newest.lastHash === lastHash) return newest.before
    return newest.stretch.to_block === from - 1 ? newest.stretch : null
  }

  return async (batch, round) => {
    const { agreement, contradictions, from, to, firstTime, lastTime, lastHash } = batch
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
      const extended = before(batch, round)
      const stables = new Set([...(extended?.stables ?? []), ...differences.map(({ stable }) => stable)])
      const stretch = {
        ...{ from_block: extended?.from_block ?? from, to_block: to },
        ...{ from_time: extended?.from_time ?? firstTime, to_time: lastTime },
        stables: [...stables].slice(0, MOST_STABLES),
      }
      await insertDisagreement(clickhouse, { ...stretch, scope: round })
      newest = { stretch, scope: round, lastHash, before: extended }
    }
    const check = { time: lastTime, blocks, quotes, differences: differences.length }
    await insertQuoteCheck(clickhouse, check, `${from}-${to}:${lastHash}${round}`)
  }
}
