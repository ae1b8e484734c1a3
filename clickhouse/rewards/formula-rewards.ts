import type { Coverage } from '../peg/coverage.js'

/** Chains on which rewards can no longer be given, and since when. Tempo's fork T7 made `distributeReward` do nothing. */
const ENDED = new Map([[4217, new Date('2026-07-09T00:00:00Z')]])

/** When a chain ended rewards, where that is at or before `at`; else null. */
export function rewardsEndedAt(chainId: number | undefined, at: Date): Date | null {
  const ended = chainId === undefined ? undefined : ENDED.get(chainId)
  return ended && ended <= at ? ended : null
}

/**
 * The yearly yield in per cent of a token that is opted in, if what was given in the last seven days were given all year:
 * null where nothing is known to be opted in.
 */
export function effectiveApyPct(distributed7dTokens: number, optedInTokens: number | null): number | null {
  if (optedInTokens === null || optedInTokens === 0) return null
  return (distributed7dTokens / optedInTokens) * (365 / 7) * 100
}

/** What an answer about rewards covers: the live reads may be missing, and a chain may have ended rewards. */
export function rewardsCoverage({ isRead, endedAt }: { isRead: boolean; endedAt: Date | null }): Coverage {
  if (endedAt) {
    const day = endedAt.toISOString().slice(0, 10)
    return { status: 'partial', message: `The chain ended rewards on ${day}: this is what there was until then.` }
  }
  if (isRead)
    return { status: 'complete', message: 'From events, and for the opted-in supply from reads of the chain.' }
  return { status: 'partial', message: 'The opted-in supply was not read: what rests on it is null.' }
}
