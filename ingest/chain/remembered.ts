/** Enough for the tokens and the accounts of thousands of blocks; with keys and values at most some 10 MB. */
const MOST_REMEMBERED = 50_000

/**
 * The same function, which gives the very same value again for a text that repeats, as the addresses and topics of a chain's
 * logs do. Those that occur once, as memos do, fill its memory up; starting over then costs less than noting with each use
 * which was used last. Nothing is kept of a text without a value.
 */
export function remembered<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const value = read(text)
    if (value === undefined) return value
    if (known.size >= MOST_REMEMBERED) known.clear()
    known.set(text, value)
    return value
  }
}
