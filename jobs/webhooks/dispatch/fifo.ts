/** From how many taken items on their places are given back. */
const COMPACT_AT = 1024

/** First in, first out; each in constant time, which an array's shift is not. */
export class Fifo<Item> {
  #items: (Item | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  /** The item at a place from the front, from 0. */
  at(place: number): Item | undefined {
    return this.#items[this.#head + place]
  }

  push(item: Item): void {
    this.#items.push(item)
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
