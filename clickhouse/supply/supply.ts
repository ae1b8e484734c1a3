/** A supply cap of this many base units is none. */
export const UNCAPPED = 2n ** 128n - 1n
