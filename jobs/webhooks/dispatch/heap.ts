/** A binary heap: what has the smallest `keyOf` comes out first. Adding and taking cost the logarithm of its size. */
export class Heap<Item> {
  readonly #items: Item[] = []
  readonly #keyOf: (item: Item) => number

  constructor(keyOf: (item: Item) => number) {
    this.#keyOf = keyOf
  }

  get size(): number {
    return this.#items.length
  }

  /** What comes out next; undefined where there is nothing. */
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

  /** Takes the first out. */
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

  /** Puts an item where the first was, then lower until what is above it is not greater. */
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
