import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'

/** The number of taken items from which their memory is released. */
const COMPACT_AT = 1024

/** A first-in, first-out queue. Unlike an array's `shift`, taking an item takes constant time. */
class Fifo<Item> {
  #items: (Item | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  /** The item at a position from the front, counted from 0. */
  at(place: number): Item | undefined {
    return this.#items[this.#head + place]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Puts an item at the front. */
  unshift(item: Item): void {
    if (this.#head > 0) this.#items[--this.#head] = item
    else this.#items.unshift(item)
  }

  shift(): Item | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#items[this.#head++] = undefined
    if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let place = this.#head; place < this.#items.length; place++) yield this.#items[place] as Item
  }
}

/** A binary heap: the item with the smallest `keyOf` comes first. Adding and taking take logarithmic time. */
export class Heap<Item> {
  readonly #items: Item[] = []
  readonly #keyOf: (item: Item) => number

  constructor(keyOf: (item: Item) => number) {
    this.#keyOf = keyOf
  }

  get size(): number {
    return this.#items.length
  }

  /** The item that `take` returns next; undefined if the heap is empty. */
  get first(): Item | undefined {
    return this.#items[0]
  }

  add(item: Item): void {
    const items = this.#items
    const key = this.#keyOf(item)
    let place = items.push(item) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = items[above] as Item
      if (this.#keyOf(parent) <= key) break
      items[place] = parent
      place = above
    }
    items[place] = item
  }

  /** Removes and returns the first item. */
  take(): Item | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (last !== undefined && items.length > 0) this.#sink(last)
    return first
  }

  *[Symbol.iterator](): Generator<Item> {
    yield* this.#items
  }

  /** Puts an item in the first position and moves it down until its parent is not greater. */
  #sink(item: Item): void {
    const items = this.#items
    const key = this.#keyOf(item)
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= items.length) break
      const right = items[below + 1]
      if (right !== undefined && this.#keyOf(right) < this.#keyOf(items[below] as Item)) below++
      const child = items[below] as Item
      if (this.#keyOf(child) >= key) break
      items[place] = child
      place = below
    }
    items[place] = item
  }
}

/** A delivery that is not finished. */
export type Pending = {
  delivery_id: number
  subscription_id: string
  /** The number of the next attempt, from 1. */
  attempt: number
  /** Unix milliseconds. */
  dueMs: number
  /** What it is about; see `Turns`. */
  incidents: readonly string[]
  /** The contents, once they have been loaded. */
  content: WebhookContent | null
}

/** What happens to the due deliveries of a subscription: they are sent, canceled, or have to wait. */
export type LineMode = 'send' | 'cancel' | 'wait'

type Line = {
  id: string
  mode: LineMode
  due: Fifo<Pending>
  /** How many deliveries at the front of `due` have their content or wait for it to be loaded. */
  requested: number
  /** Number of deliveries taken and not done. */
  inFlight: number
  isInRing: boolean
}

export type FairQueueOptions = {
  /** The maximum number of deliveries taken and not done, in total and of a subscription. */
  maxInFlight: number
  limitOf: (subscription_id: string) => number
  /**
   * How many contents to keep per subscription, given the number of subscriptions, so that loading them does not delay
   * sending.
   */
  prepared: (subscriptions: number) => number
  modeOf: (subscription_id: string) => LineMode
}

/**
 * The unfinished deliveries: future ones ordered by time, due ones in one line per subscription. The lines are served
 * in turn, and none may have more than its share in flight, so that neither a slow receiver nor a long line delays the
 * others. Reads no clock: times are arguments.
 */
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #later = new Heap<Pending>(({ dueMs }) => dueMs)
  readonly #lines = new Map<string, Line>()
  /** The lines from which a delivery can be taken. */
  readonly #ring = new Fifo<Line>()
  #inFlight = 0
  #due = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** How many deliveries are not due yet, due, and taken. */
  get size(): { later: number; due: number; inFlight: number } {
    return { later: this.#later.size, due: this.#due, inFlight: this.#inFlight }
  }

  /** How many deliveries of a subscription are due or taken. */
  unsentOf(subscription_id: string): number {
    const line = this.#lines.get(subscription_id)
    return line === undefined ? 0 : line.due.length + line.inFlight
  }

  /** Adds a delivery; `missing` returns those without content. */
  add(pending: Pending, nowMs: number): void {
    if (pending.dueMs > nowMs) this.#later.add(withoutContent(pending))
    else this.#addDue(pending)
  }

  /** Adds a delivery that was taken before all that wait in the line of its subscription. Its content must be loaded. */
  putBack(pending: Pending): void {
    const line = this.#lineOf(pending.subscription_id)
    line.due.unshift(pending)
    line.requested++
    this.#due++
    this.#enter(line)
  }

  /** Takes at most `most` due deliveries, in turn from each subscription. Call `done` for each of them afterwards. */
  take(nowMs: number, most = Number.POSITIVE_INFINITY): { pending: Pending; mode: LineMode }[] {
    for (let next = this.#later.first; next && next.dueMs <= nowMs; next = this.#later.first) {
      this.#later.take()
      this.#addDue(next)
    }
    const { maxInFlight } = this.#options
    const share = Math.max(1, Math.floor(maxInFlight / this.#lines.size))
    const taken: { pending: Pending; mode: LineMode }[] = []
    for (let passedOver = 0; passedOver < this.#ring.length && this.#inFlight < maxInFlight && taken.length < most; ) {
      const line = this.#ring.shift() as Line
      line.isInRing = false
      if (!this.#canTake(line)) continue
      if (line.inFlight >= share) passedOver++
      else {
        passedOver = 0
        const pending = line.due.shift() as Pending
        line.requested = Math.max(0, line.requested - 1)
        line.inFlight++
        this.#inFlight++
        this.#due--
        taken.push({ pending, mode: line.mode })
      }
      this.#enter(line)
    }
    return taken
  }

  /** Ends the sending of a taken delivery. To send it again, add it again. */
  done({ subscription_id }: Pending): void {
    const line = this.#lines.get(subscription_id) as Line
    line.inFlight--
    this.#inFlight--
    this.#enter(line)
    if (line.inFlight === 0 && line.due.length === 0) this.#lines.delete(subscription_id)
  }

  /**
   * The deliveries whose contents are needed soon: at most `most`, with an equal share for each subscription. Each is
   * returned only once, so the caller must load the content of each.
   */
  missing(most: number): Pending[] {
    const missing: Pending[] = []
    const prepared = this.#options.prepared(this.#lines.size)
    const each = Math.ceil(most / this.#lines.size)
    for (const line of this.#lines.values()) {
      if (line.mode !== 'send' || line.requested > prepared / 2) continue
      const until = Math.min(line.due.length, prepared, line.requested + each)
      for (; line.requested < until && missing.length < most; line.requested++) {
        const pending = line.due.at(line.requested) as Pending
        if (pending.content === null) missing.push(pending)
      }
    }
    return missing
  }

  /** Call when the contents of missing deliveries have been loaded. */
  filled(pendings: readonly Pending[]): void {
    for (const { subscription_id } of pendings) {
      const line = this.#lines.get(subscription_id)
      if (line) this.#enter(line)
    }
  }

  /** Updates the mode of each subscription. */
  refreshModes(): void {
    for (const line of this.#lines.values()) {
      line.mode = this.#options.modeOf(line.id)
      this.#enter(line)
    }
  }

  /** The smallest number of a delivery in the queue that is not taken; Infinity if there is none. */
  smallestId(): number {
    let smallest = Number.POSITIVE_INFINITY
    for (const { delivery_id } of this.#later) smallest = Math.min(smallest, delivery_id)
    for (const { due } of this.#lines.values())
      for (const { delivery_id } of due) smallest = Math.min(smallest, delivery_id)
    return smallest
  }

  #addDue(pending: Pending): void {
    const line = this.#lineOf(pending.subscription_id)
    const place = line.due.length
    const isKept = place < this.#options.prepared(this.#lines.size)
    line.due.push(isKept ? pending : withoutContent(pending))
    if (isKept && pending.content !== null && line.requested === place) line.requested++
    this.#due++
    this.#enter(line)
  }

  #lineOf(id: string): Line {
    const line = this.#lines.get(id)
    if (line) return line
    const mode = this.#options.modeOf(id)
    const added: Line = { id, mode, due: new Fifo(), requested: 0, inFlight: 0, isInRing: false }
    this.#lines.set(id, added)
    return added
  }

  #canTake({ id, mode, due, inFlight }: Line): boolean {
    if (mode === 'wait' || due.length === 0 || inFlight >= this.#options.limitOf(id)) return false
    return mode === 'cancel' || due.at(0)?.content !== null
  }

  #enter(line: Line): void {
    if (line.isInRing || !this.#canTake(line)) return
    line.isInRing = true
    this.#ring.push(line)
  }
}

/** Removes the content in place: contents of deliveries that are not sent soon would take most of the memory. */
function withoutContent(pending: Pending): Pending {
  pending.content = null
  return pending
}
