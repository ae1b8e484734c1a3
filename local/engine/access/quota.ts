import { z } from 'zod'

const limit = z.int().positive().optional()

/** What one user may use up in each interval. Intervals are aligned: an hour begins at the full hour. */
export const Quota = z.strictObject({
  interval_seconds: z.int().positive(),
  requests: limit,
  result_rows: limit,
  execution_seconds: z.number().positive().optional(),
  /** Count for each `quota_key` of the user on its own. */
  keyed: z.boolean().default(false),
})
export type Quota = z.output<typeof Quota>

type Resource = 'requests' | 'result_rows' | 'execution_seconds'
type Usage = Record<Resource, number>

/** A limit that is used up, and when the next interval begins (milliseconds since 1970). */
export type Exceeded = { resource: Resource; used: number; max: number; nextIntervalMs: number }

/** A client may send any number of keys. */
const maxKeys = 10_000

/** Under what a user's usage is counted: his name, which has no slash, or with a `keyed` quota that and the key he sent. */
export const quotaKey = (name: string, quota: Quota, key: string): string => (quota.keyed ? `${name}/${key}` : name)

/** Counts what users have used in the current interval. In memory: a restart forgets it. */
export class QuotaUsage {
  readonly #usages = new Map<string, { intervalStartMs: number; usage: Usage }>()

  /** Counts a request, or says which limit stands in its way; a refused request is not counted. */
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

  /** Adds what a request has used, once that is known. */
  add(key: string, quota: Quota, used: { result_rows: number; execution_seconds: number }, nowMs: number): void {
    const usage = this.#usage(key, quota, nowMs)
    usage.result_rows += used.result_rows
    usage.execution_seconds += used.execution_seconds
  }

  #usage(key: string, quota: Quota, nowMs: number): Usage {
    const intervalStartMs = startOf(quota, nowMs)
    const known = this.#usages.get(key)
    if (known?.intervalStartMs === intervalStartMs) return known.usage
    if (known === undefined && this.#usages.size >= maxKeys) this.#forgetOneKey()
    const usage = { requests: 0, result_rows: 0, execution_seconds: 0 }
    this.#usages.set(key, { intervalStartMs, usage })
    return usage
  }

  /** The oldest; never a whole user, or somebody's keys would reset another one's count. */
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
