import type { Redis } from 'ioredis'
import { z } from 'zod'
import { within } from '../../../process/within.js'
import { Answer } from './answer.js'
import type { Freshness } from './policies.js'

/** An answer and its age. */
export type AgedAnswer = { answer: Answer; ageMs: number }

/** Answers that the processes of a service share. This only saves time: if it fails, it behaves as if it were empty. */
export type SharedAnswers = {
  find: (key: string) => Promise<AgedAnswer | null>
  put: (key: string, answer: AgedAnswer) => Promise<void>
  /** Whether this process should compute the answer; false while another one does. */
  claim: (key: string) => Promise<boolean>
  release: (key: string) => Promise<void>
}

/** How long to wait for Redis, in milliseconds, by default: about as long as ClickHouse takes for a small answer. */
const PATIENCE_MS = 100
/** A process that is computing may die; queries are aborted after 15 seconds. */
const CLAIM_MS = 15_000

const Head = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue('is not JSON')
      return z.NEVER
    }
  })
  .pipe(
    z.object({
      as_of: z.string().nullable(),
      freshness: z.object({ maxAgeMs: z.number(), staleMs: z.number(), cacheControl: z.string() }),
    }),
  )

const NEWLINE = 0x0a

function pack({ asOf, freshness, body }: Answer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ as_of: asOf, freshness })}\n`), body])
}

/** null for what another version of this program has written. */
function unpack(bytes: Buffer): Answer | null {
  const end = bytes.indexOf(NEWLINE)
  const head = Head.safeParse(bytes.toString('utf8', 0, end))
  return head.success ? new Answer(bytes.subarray(end + 1), head.data.as_of, head.data.freshness) : null
}

const lifetime = ({ maxAgeMs, staleMs }: Freshness): number => maxAgeMs + staleMs

/**
 * Answers in Redis under `prefix`, which contains everything that a body depends on besides its request: database and
 * version. Their age follows from the remaining time to live in Redis, so that no clocks are compared.
 */
export function sharedAnswers(redis: Redis, prefix: string, patienceMs = PATIENCE_MS): SharedAnswers {
  const bodyKey = (key: string): string => `${prefix}:answer:${key}`
  const claimKey = (key: string): string => `${prefix}:claim:${key}`
  /** Commands to an unreachable Redis would wait until it is back. */
  const isHere = (): boolean => redis.status === 'ready'
  return {
    find: async (key) => {
      if (!isHere()) return null
      const read = redis.pipeline().getBuffer(bodyKey(key)).pttl(bodyKey(key)).exec()
      const [[bytesError, bytes] = [], [leftError, left] = []] = (await within(read, patienceMs, null)) ?? []
      if (bytesError || leftError || !Buffer.isBuffer(bytes) || typeof left !== 'number' || left < 0) return null
      const answer = unpack(bytes)
      return answer && { answer, ageMs: Math.max(0, lifetime(answer.freshness) - left) }
    },
    put: async (key, { answer, ageMs }) => {
      const left = Math.floor(lifetime(answer.freshness) - ageMs)
      if (isHere() && left > 0) await within(redis.set(bodyKey(key), pack(answer), 'PX', left), patienceMs, null)
    },
    claim: async (key) => {
      if (!isHere()) return true
      const taken = redis.set(claimKey(key), '1', 'PX', CLAIM_MS, 'NX').then((reply) => reply === 'OK')
      return within(taken, patienceMs, true)
    },
    release: async (key) => {
      if (isHere()) await within(redis.del(claimKey(key)), patienceMs, 0)
    },
  }
}
