import pRetry from 'p-retry'
import type { Logger } from 'pino'
import { PlumblineError } from '../../process/errors.js'

/** ClickHouse may be unreachable for about ten minutes before ingest gives up. */
const ATTEMPTS = 70

export type RetryDatabase = <Result>(what: string, work: () => Promise<Result>) => Promise<Result>

/** Retries reads and writes of the database until they succeed, with growing pauses, until `signal` aborts. */
export const retryDatabaseWith =
  (log: Logger, signal: AbortSignal): RetryDatabase =>
  (what, work) =>
    pRetry(work, {
      retries: ATTEMPTS - 1,
      minTimeout: 200,
      maxTimeout: 10_000,
      signal,
      shouldRetry: ({ error }) => error instanceof PlumblineError && error.retryable,
      onFailedAttempt: ({ error, attemptNumber }) => {
        log.warn({ attempt: attemptNumber, reason: error.message.split('\n')[0] }, `${what} failed`)
      },
    })
