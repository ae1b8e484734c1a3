/** Work that several callers wait for; it is aborted when the last of them goes away. */
export class SharedWork<Result> {
  readonly result: Promise<Result>
  readonly #abandoned = new AbortController()
  #waiting = 0
  #isKept = false

  constructor(work: (signal: AbortSignal) => Promise<Result>) {
    this.result = work(this.#abandoned.signal)
    // It may fail while nobody waits for it.
    this.result.catch(() => {})
  }

  /** Whether the last caller has gone away: others should begin again instead of waiting for aborted work. */
  get isAbandoned(): boolean {
    return this.#abandoned.signal.aborted
  }

  /** Adds a caller that waits until `client` aborts; then `onLeave` is called. */
  join(client: AbortSignal | undefined, onLeave = (): void => {}): void {
    this.#waiting += 1
    const leave = (): void => {
      onLeave()
      this.#waiting -= 1
      if (this.#waiting === 0 && !this.#isKept) this.#abandoned.abort(client?.reason)
    }
    if (client?.aborted) leave()
    else client?.addEventListener('abort', leave, { once: true })
    const done = (): void => client?.removeEventListener('abort', leave)
    this.result.then(done, done)
  }

  /** Lets the work continue even if nobody waits. */
  keep(): void {
    this.#isKept = true
  }
}
