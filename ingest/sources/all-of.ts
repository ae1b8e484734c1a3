/**
 * A step that runs all `reads` side by side and gives their results in order. It rejects with the first failure once
 * all have ended; run again, it repeats only those that have failed. So a thousand reads come through a node that
 * fails one in a hundred, where all of them at once never would.
 */
export function allOf<Result>(reads: ReadonlyArray<() => Promise<Result>>): () => Promise<Result[]> {
  const done = new Map<number, Result>()
  return async () => {
    const ended = await Promise.allSettled(
      reads.map(async (read, i) => {
        if (!done.has(i)) done.set(i, await read())
      }),
    )
    for (const end of ended) if (end.status === 'rejected') throw end.reason
    return reads.map((_, i) => done.get(i) as Result)
  }
}
