/**
 * Yields the result of `map` for each item of `source`, in order, working on up to `depth` items in advance. An error
 * is thrown at its item's turn. `map` may run for several items concurrently; `source` is asked for one item at a time.
 */
export async function* readAhead<In, Out>(
  source: AsyncGenerator<In>,
  depth: number,
  map: (item: In) => Promise<Out>,
): AsyncGenerator<Out> {
  const step = (): Promise<{ item: Out } | null> => {
    const mapped = source.next().then(async (next) => (next.done ? null : { item: await map(next.value) }))
    // Without its own handler, a failure would end the process before its turn.
    mapped.catch(() => {})
    return mapped
  }
  const queue = Array.from({ length: depth }, step)
  try {
    for (let next = await queue.shift(); next; next = await queue.shift()) {
      queue.push(step())
      yield next.item
    }
  } finally {
    // Not awaited: it would wait for whatever the source is waiting for.
    source.return(undefined).catch(() => {})
  }
}
