import { z } from 'zod'

const limit = z.int().positive().optional()

/** The limits of one user in each interval. Intervals are aligned: one of an hour begins on the hour. */
export const Quota = z.strictObject({
  interval_seconds: z.int().positive(),
  requests: limit,
  result_rows: limit,
  execution_seconds: z.number().positive().optional(),
  /** Whether each `quota_key` of the user is counted separately. */
  keyed: z.boolean().default(false),
})
export type Quota = z.output<typeof Quota>

type Resource = 'requests' | 'result_rows' | 'execution_seconds'
type Usage = Record<Resource, number>

/** An exceeded limit, and when the next interval begins (milliseconds since 1970). */
export type Exceeded = { resource: Resource; used: number; max: number; nextIntervalMs: number }

/** Clients can send any number of keys, so their count is bounded. */
const maxKeys = 10_000

/**
 * The key under which usage is counted: the user's name (which has no slash), with the sent key if the quota is
 * `keyed`.
 */
export const quotaKey = (name: string, quota: Quota, key: string): string => (quota.keyed ? `${name}/${key}` : name)

/** Counts usage in the current interval. Held in memory, so a restart resets it. */
export class QuotaUsage {
  readonly #usages = new Map<string, { intervalStartMs: number; usage: Usage }>()

  /** Counts a request, or returns the limit that it exceeds; a refused request is not counted. */
  take(key: string, quota: Quota, nowMs: number): Exceeded | undefined {
    const usage = this.#usage(key, quota, nowMs)
    if (quota.requests !== undefined && usage.requests >= quota.requests) {
      return exceeded('requests', usage.requests + 1, quota.requests, quota, nowMs)
    }
    for (const resource of ['result_rows', 'execution_seconds'] as const) {
      const max = quota[resource]
      if (max !== undefined && usage[resource] >= max) return exceeded(resource, usage[resource], max, quota, nowMs)
    }
    usage.requests++
    return undefined
  }

  /** Adds the usage of a finished request. */
  add(key: string, quota: Quota, used: { result_rows: number; execution_seconds: number }, nowMs: number): void {
    const usage = this.#usage(key, quota, nowMs)
    usage.result_rows += used.result_rows
    usage.execution_seconds += used.execution_seconds
  }

  #usage(key: string, quota: Quota, nowMs: number): Usage {
    const intervalStartMs = startOf(quota, nowMs)
    const newest = this.#usages.get(key)
    if (newest?.intervalStartMs === intervalStartMs) return newest.usage
    if (newest === undefined && this.#usages.size >= maxKeys) this.#forgetOneKey()
    const usage = { requests: 0, result_rows: 0, execution_seconds: 0 }
    this.#usages.set(key, { intervalStartMs, usage })
    return usage
  }

  /** Forgets the oldest keyed count. Never a user's own count, which other users' keys could otherwise reset. */
  #forgetOneKey(): void {
    for (const key of this.#usages.keys()) {
      if (key.includes('/')) {
        this.#usages.delete(key)
        return
      }
    }
  }
}

const startOf = ({ interval_seconds }: Quota, nowMs: number) => nowMs - (nowMs % (interval_seconds * 1000))

function exceeded(resource: Resource, used: number, max: number, quota: Quota, nowMs: number): Exceeded {
  return { resource, used, max, nextIntervalMs: startOf(quota, nowMs) + quota.interval_seconds * 1000 }
}
