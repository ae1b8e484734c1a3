import { totalmem } from 'node:os'

/** Bytes of memory that this process may use: the machine's, or those of its container when that has fewer. */
export function availableMemory(): number {
  // Without a limit this is 0, undefined or more than there is.
  const limit = process.constrainedMemory()
  return limit ? Math.min(limit, totalmem()) : totalmem()
}
