/** The result of `work`; `otherwise` if it fails or takes longer than `ms`. Never rejects. */
export function within<Value>(work: Promise<Value>, ms: number, otherwise: Value): Promise<Value> {
  const gaveUp = new Promise<Value>((resolve) => setTimeout(resolve, ms, otherwise).unref())
  return Promise.race([work.catch(() => otherwise), gaveUp])
}
