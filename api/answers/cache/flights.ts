/** Running work that all requests for the same answer share. */
export type Flight<Result> = {
  result: Promise<Result>
  startedAt: number
  /** Adds a client that waits until `client` aborts: the work is aborted with the last one. */
  join: (client: AbortSignal) => void
  /** Lets the work continue even if nobody waits. */
  keep: () => void
}

/** At most one piece of work per key at any time. */
export type Flights<Result> = {
  get: (key: string) => Flight<Result> | undefined
  start: (key: string, work: (signal: AbortSignal) => Promise<Result>) => Flight<Result>
}

/** Work under way, by key. `nowMs` is a monotonic clock. */
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
        // New requests start again instead of waiting for aborted work.
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
      // It may fail while nobody waits for it.
      flight.result.catch(() => {})
      flights.set(key, flight)
      return flight
    },
  }
}
