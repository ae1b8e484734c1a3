import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

const RETRY_MS = 200

/** Repeats work until it succeeds once; `what` names it in the log. */
export type Repeat = (what: string, work: () => Promise<void>) => Promise<void>

/** Repeats work until it succeeds once or `signal` aborts. Logs only the first failure. */
export const repeatUntil =
  (signal: AbortSignal, log: Logger): Repeat =>
  async (what, work) => {
    for (let isLogged = false; !signal.aborted; isLogged = true) {
      try {
        await work()
        if (isLogged) log.info(`${what}: reading works again`)
        return
      } catch (error) {
        if (!isLogged) log.error({ reason: String(error) }, `${what}: cannot be read; retrying`)
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }
