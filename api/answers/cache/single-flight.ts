/** Work that is under way for everybody who asks for the same. */
export type Flight<Result> = {
  result: Promise<Result>
  startedAt: number
  /** Somebody waits who goes away when `client` aborts: the work ends with the last of them. */
  join: (client: AbortSignal) => void
  /** The work goes on though nobody waits. */
  keep: () => void
}

/** At most one piece of work a key at any time. */
export type Flights<Result> = {
  get: (key: string) => Flight<Result> | undefined
  start: (key: string, work: (signal: AbortSignal) => Promise<Result>) => Flight<Result>
}

/** `nowMs` is a clock that only goes forward. */
export function createFlights<Result>(nowMs: () => number): Flights<Result> {
  const flights = new Map<string, Flight<Result>>()
  return {
    get: (key) => flights.get(key),
    start: (key, work) => {
      const controller = new AbortController()
      let waiting = 0
      let isKept = false
      const land = (): void => {
        if (flights.get(key) === flight) flights.delete(key)
      }
      const leave = (): void => {
        waiting -= 1
        if (waiting > 0 || isKept) return
        // Whoever comes now starts anew instead of waiting for what has been given up.
        land()
        controller.abort()
      }
      const flight: Flight<Result> = {
        result: work(controller.signal).finally(land),
        startedAt: nowMs(),
        join: (client) => {
          waiting += 1
          if (client.aborted) leave()
          else client.addEventListener('abort', leave, { once: true })
        },
        keep: () => {
          isKept = true
        },
      }
      // It may fail while nobody waits.
      flight.result.catch(() => {})
      flights.set(key, flight)
      return flight
    },
  }
}
