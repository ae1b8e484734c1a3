import { PlumblineError } from '../../process/errors.js'

/** Exports that may run at once: each holds a connection to ClickHouse for as long as its client reads. */
const SLOTS = 4

/** Too many exports are being read. */
class ExportsBusyError extends PlumblineError {
  constructor() {
    super(`${SLOTS} exports are being read already`, { retryable: true })
  }
}

export type ExportSlots = {
  /** Takes a slot; the function gives it back, once. Throws a retryable error when there is none. */
  take: () => () => void
}

/** Keeps slow readers of exports from taking the connections that all other answers need. */
export function createExportSlots(): ExportSlots {
  let free = SLOTS
  return {
    take: () => {
      if (free === 0) throw new ExportsBusyError()
      free -= 1
      let isTaken = true
      return () => {
        if (isTaken) free += 1
        isTaken = false
      }
    },
  }
}
