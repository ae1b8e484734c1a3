/** Which events a reader or subscriber is interested in; what is not given, filters nothing. Addresses in lower case. */
export type EventFilter = {
  types?: string[] | undefined
  stables?: string[] | undefined
}

/**
 * Whether an event passes a filter. Stables match either end of an edge; an event that concerns no stable is about the
 * service itself, which every subscriber depends on, and passes whatever stables are asked for.
 */
export function passes(event: { type: string; stables: readonly string[] }, { types, stables }: EventFilter): boolean {
  if (types !== undefined && !types.includes(event.type)) return false
  return stables === undefined || event.stables.length === 0 || event.stables.some((stable) => stables.includes(stable))
}
