import koffi from 'koffi'

const library = koffi.load(null)

/**
 * A function of the C library, from its declaration in C. Where the original returns -1, it throws an error with the
 * system's `code`, such as ENOENT.
 */
export function declare<A extends unknown[]>(declaration: string): (...args: A) => number {
  const call = library.func(declaration)
  return (...args) => {
    const result = Number(call(...args))
    if (result !== -1) return result
    const errno = koffi.errno()
    const code = Object.entries(koffi.os.errno).find(([, number]) => number === errno)?.[0] ?? `error ${errno}`
    throw Object.assign(new Error(`${call.info.name}: ${code}`), { code })
  }
}

/** The address of a buffer's bytes, for a structure that points to them. */
export const addressOf = (buffer: Buffer): bigint => BigInt(koffi.address(buffer))
