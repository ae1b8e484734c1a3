import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { Address } from '../../clickhouse/store/values.js'
import { NotFoundError } from '../http/errors.js'

/** Where a stable was created; block 0 is the genesis block. `block_time` in unix seconds. */
export type Creation = { block_number: number; block_time: number }

/** The known addresses of tracked stables. */
export type KnownStables = {
  /** Whether a lower-case address is one. Reads the list again if it is unknown. */
  has: (address: string) => Promise<boolean>
  /** Where a stable that `has` knows was created; undefined for other addresses. */
  creationOf: (address: string) => Creation | undefined
  /** How many of them are in use, as of the last read. */
  countInUse: () => number
}

/** A list older than this is read again. */
const MAX_AGE_MS = 60_000
/** Requests for unknown addresses cannot make the list be read more often than this. */
const MIN_AGE_MS = 1000

/**
 * Caches what `read` returns, so that a request about a known stable needs no look-up. `nowMs` is a monotonic clock.
 */
export function createKnownStables(
  read: () => Promise<({ stable: string; in_use: boolean } & Creation)[]>,
  nowMs = () => performance.now(),
): KnownStables {
  let creations = new Map<string, Creation>()
  let inUse = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null
  const refresh = (): Promise<void> => {
    reading ??= read()
      .then((stables) => {
        creations = new Map(stables.map(({ stable, in_use: _, ...creation }) => [stable, creation]))
        inUse = stables.filter(({ in_use }) => in_use).length
        readAt = nowMs()
      })
      .finally(() => {
        reading = null
      })
    return reading
  }
  return {
    has: async (address) => {
      const age = nowMs() - readAt
      if (age > MAX_AGE_MS || (age > MIN_AGE_MS && !creations.has(address))) await refresh()
      return creations.has(address)
    },
    creationOf: (address) => creations.get(address),
    countInUse: () => inUse,
  }
}

/** The path parameter of every route about one stable. */
export const StableParams = z.strictObject({
  address: Address.meta({
    description: 'Address of a stable that /stablecoins lists, in any letter case',
    // Not `examples`: zod leaves those out of the schema of what it transforms.
    example: REFERENCE_STABLE,
  }),
})

/** The 404 for an address that is not a tracked stable. */
export function unknownStable(address: string, parameter = 'address'): NotFoundError {
  return new NotFoundError('unknown-stable', `${address} is not a tracked stable`, parameter)
}

/** Throws a 404 if `address` is not a tracked stable. */
export async function requireStable(app: FastifyInstance, address: string, parameter?: string): Promise<void> {
  if (!(await app.stables.has(address))) throw unknownStable(address, parameter)
}
