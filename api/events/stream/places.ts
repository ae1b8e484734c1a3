import { PlumblineError } from '../../../process/errors.js'
import { type Caller, hasScope } from '../../callers/auth.js'
import { networkOf } from '../../callers/limits/address.js'
import { NO_STORE, ProblemError, retryAfter } from '../../http/errors.js'

/** The process has reached its limit of open streams. */
class StreamsBusyError extends PlumblineError {
  constructor() {
    super('no more streams can be opened here at the moment', { retryable: true })
  }
}

/** One client has reached its limit of open streams. */
class TooManyStreamsError extends ProblemError {
  constructor(most: number, kind: 'address' | 'key') {
    const whose = kind === 'key' ? 'with this key' : 'from this address'
    super(`the limit of ${most} open streams ${whose} is reached`, {
      status: 429,
      kind: 'too-many-streams',
      headers: { ...NO_STORE, ...retryAfter() },
    })
  }
}

/** How many streams may be open at once: in all, from one address, and with one key of scope `stream`. */
export type StreamLimits = { total: number; perAddress: number; perKey: number }

export type StreamPlaces = {
  /** Takes a place; the returned function releases it, once. Throws if there is none, for this caller or in total. */
  take: (caller: Caller, ip: string) => () => void
}

/** Prevents open streams from taking all connections, and one client from taking all streams. */
export function createStreamPlaces({ total, perAddress, perKey }: StreamLimits): StreamPlaces {
  const open = new Map<string, number>()
  let all = 0
  /** A key with the scope counts by itself, from any address; anybody else by address. */
  const holderOf = (caller: Caller, ip: string) =>
    hasScope(caller, 'stream')
      ? { kind: 'key' as const, most: perKey, name: caller.tier === 'subscriber' ? caller.keyId : caller.tier }
      : { kind: 'address' as const, most: perAddress, name: networkOf(ip) }
  return {
    take: (caller, ip) => {
      const { kind, most, name } = holderOf(caller, ip)
      const openStreams = open.get(name) ?? 0
      if (openStreams >= most) throw new TooManyStreamsError(most, kind)
      if (all >= total) throw new StreamsBusyError()
      open.set(name, openStreams + 1)
      all++
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        all--
        const left = (open.get(name) ?? 1) - 1
        if (left === 0) open.delete(name)
        else open.set(name, left)
      }
    },
  }
}
