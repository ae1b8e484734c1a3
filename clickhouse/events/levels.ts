import { z } from 'zod'

/** How much an event matters, from the least. */
export const LEVELS = ['info', 'warning', 'critical'] as const
export const Level = z.enum(LEVELS)
export type Level = z.infer<typeof Level>

/** Without blocks or samples nothing is announced, so that silence would look like peace. */
const BLIND = ['ingest', 'sampling']

/**
 * The severity of an event. That of a break follows from its rule, which is a distance from the peg and a duration. A start
 * and its end have the same, and so does a retraction as the event that it takes back, so that a limit parts none of them.
 */
export function levelOf({ type, data }: { type: string; data: Record<string, unknown> }): Level {
  const isRetraction = type === 'event.retracted'
  const kind = String(isRetraction ? data.retracted_event : type)
  const about = ((isRetraction ? data.original : data) ?? {}) as Record<string, unknown>
  if (kind.includes('_break.')) return about.severity === 'severe' ? 'critical' : 'warning'
  if (kind.startsWith('peg_quote.')) return 'critical'
  if (kind === 'system.health_drift') return BLIND.includes(String(about.component)) ? 'critical' : 'warning'
  return 'info'
}

/** Whether an event is at least as severe as `min_severity`; empty does not filter. */
export const reachesLevel = (event: Parameters<typeof levelOf>[0], min_severity: Level | ''): boolean =>
  min_severity === '' || LEVELS.indexOf(levelOf(event)) >= LEVELS.indexOf(min_severity)

const KIND = "if(type = 'event.retracted', retracted_type, type)"
const ABOUT = "if(type = 'event.retracted', JSONExtractRaw(data, 'original'), data)"
const IS_CRITICAL = `
  (position(${KIND}, '_break.') > 0 AND JSONExtractString(${ABOUT}, 'severity') = 'severe'
   OR startsWith(${KIND}, 'peg_quote.')
   OR ${KIND} = 'system.health_drift' AND JSONExtractString(${ABOUT}, 'component') IN (${BLIND.map((component) => `'${component}'`).join(', ')}))`

/** The condition of `reachesLevel`, in SQL, with the parameter `min_severity`. Reads no data without a filter. */
export const LEVEL_CONDITION = `
  ({min_severity: String} IN ('', 'info')
   OR {min_severity: String} = 'warning' AND (position(${KIND}, '_break.') > 0 OR ${KIND} = 'system.health_drift')
   OR ${IS_CRITICAL})`
