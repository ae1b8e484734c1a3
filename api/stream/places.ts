import { PlumblineError } from '../../domain/errors.js'
import { TooManyStreamsError } from '../request-errors.js'

/** The process has as many streams open as it may have. */
class StreamsBusyError extends PlumblineError {
  constructor() {
    super('no more streams can be opened here at the moment', { retryable: true })
  }
}

/** How many streams may be open at once, in all and from one address. */
export type StreamLimits = { total: number; perAddress: number }

export type StreamPlaces = {
  /** Takes a place; the function gives it back, once. Throws where there is none, for this address or at all. */
  take: (address: string) => () => void
}

/** Keeps streams, which stay open, from taking all connections, and one client from taking all streams. */
export function createStreamPlaces({ total, perAddress }: StreamLimits): StreamPlaces {
  const open = new Map<string, number>()
  let all = 0
  return {
    take: (address) => {
      const own = open.get(address) ?? 0
      if (own >= perAddress) throw new TooManyStreamsError(perAddress)
      if (all >= total) throw new StreamsBusyError()
      open.set(address, own + 1)
      all++
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        all--
        const left = (open.get(address) ?? 1) - 1
        if (left === 0) open.delete(address)
        else open.set(address, left)
      }
    },
  }
}
