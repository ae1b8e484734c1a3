/** Enough for the tokens and the accounts of thousands of blocks; with keys and values at most some 10 MB. */
const MOST_REMEMBERED = 50_000

/**
 * `read` with a memory: a text that repeats, as addresses and topics of logs do, gets the identical value again. Texts that
 * occur once, as memos do, fill the memory; clearing it then costs less than noting with each use which was used last.
 * A text without a value is not kept.
 */
export function remembered<Value>(read: (text: string) => Value): (text: string) => Value {
  const values = new Map<string, Value>()
  return (text) => {
    const cached = values.get(text)
    if (cached !== undefined) return cached
    const value = read(text)
    if (value === undefined) return value
    if (values.size >= MOST_REMEMBERED) values.clear()
    values.set(text, value)
    return value
  }
}
