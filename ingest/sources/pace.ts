import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { isRateLimited, retryAfterMs } from './refusals.js'

/** Runs a request to a node when it is its turn, in the order of the calls. */
export type Pace = <Result>(request: () => Promise<Result>) => Promise<Result>

const FIRST_REST_MS = 250
const LONGEST_REST_MS = 10_000

/**
 * Lets requests to a node run, as many at once as it bears. A node that limits rates is left alone for as long as it asks
 * (Retry-After, a minute at most), or for a moment that grows once a single request is too many, and is then sent half as
 * many at once; each round without such a refusal allows it one more. A refused request is not repeated here.
 */
export function createPace(most: number, signal: AbortSignal): Pace {
  let restsUntil = 0
  /** How often in turn it refused a single request. */
  let refusals = 0
  let answers = 0
  let cutAt = 0
  const limit = pLimit(most)

  const slowDown = (error: unknown, begun: number): void => {
    const now = Date.now()
    // Of requests that were under way together, one counts.
    if (begun >= cutAt) {
      cutAt = now
      if (limit.concurrency === 1) refusals++
      limit.concurrency = Math.max(1, Math.floor(limit.concurrency / 2))
    }
    const pause = Math.min(FIRST_REST_MS * 2 ** refusals, LONGEST_REST_MS)
    restsUntil = Math.max(restsUntil, now + (retryAfterMs(error, now) || pause))
    answers = 0
  }
  const speedUp = (): void => {
    refusals = 0
    if (limit.concurrency < most && ++answers >= limit.concurrency) {
      limit.concurrency++
      answers = 0
    }
  }

  return (request) =>
    limit(async () => {
      for (let pause = restsUntil - Date.now(); pause > 0; pause = restsUntil - Date.now())
        await sleep(pause, undefined, { signal })
      const begun = Date.now()
      try {
        const answer = await request()
        speedUp()
        return answer
      } catch (error) {
        if (isRateLimited(error)) slowDown(error, begun)
        throw error
      }
    })
}
