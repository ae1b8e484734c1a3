import { Presets, SingleBar } from 'cli-progress'
import type { Logger } from 'pino'

const LOG_EVERY_MS = 5_000

export type Progress = { update: (done: number) => void; stop: () => void }

/** Shows the progress of a long task: as a bar if stderr is a terminal, otherwise as a log line every 5 s. */
export function trackProgress(what: string, total: number, log: Logger): Progress {
  if (process.stderr.isTTY) {
    const bar = new SingleBar(
      { format: `${what} {bar} {value}/{total} blocks, {eta_formatted} left` },
      Presets.shades_classic,
    )
    bar.start(total, 0)
    return { update: (done) => bar.update(done), stop: () => bar.stop() }
  }
  const startedAt = Date.now()
  let loggedAt = startedAt
  return {
    update: (done) => {
      const now = Date.now()
      if (now - loggedAt < LOG_EVERY_MS && done < total) return
      loggedAt = now
      log.info({ blocks: done, of: total, seconds: Math.round((now - startedAt) / 1000) }, what)
    },
    stop: () => undefined,
  }
}
