import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { Address } from '../../clickhouse/store/values.js'
import type { Memories } from '../../process/memory.js'
import { NotFoundError } from '../http/errors.js'

/** Where a stable was created; block 0 is the genesis block. `block_time` in unix seconds. */
export type Creation = { block_number: number; block_time: number }

/** The tracked stables. */
export type Stables = {
  /** Whether a lower-case address is one. Reads the list again if it is unknown. */
  has: (address: string) => Promise<boolean>
  /** Where a stable was created, as of the last read; undefined for other addresses. */
  creationOf: (address: string) => Promise<Creation | undefined>
  /** How many of them are in use, as of the last read. */
  countInUse: () => Promise<number>
}

/** A list older than this is read again. */
const MAX_AGE_MS = 60_000
/** Requests for unknown addresses cannot make the list be read more often than this. */
const MIN_AGE_MS = 1000

/** The stables that `read` returns, kept so that a request about one of them needs no look-up. `nowMs` is a monotonic clock. */
export function createStables(
  read: () => Promise<({ stable: string; in_use: boolean } & Creation)[]>,
  memories: Memories,
  nowMs = () => performance.now(),
): Stables {
  const latest = memories.latest<{ creations: ReadonlyMap<string, Creation>; inUse: number }>({
    name: 'stables',
    holds: 'the tracked stables, and where they were created',
    until: '60 s; 1 s for an address that is not one of them',
    read: async () => {
      const stables = await read()
      return {
        creations: new Map(stables.map(({ stable, in_use: _, ...creation }) => [stable, creation])),
        inUse: stables.filter(({ in_use }) => in_use).length,
      }
    },
    count: ({ creations }) => creations.size,
    nowMs,
  })
  const newest = () => latest.get(() => true)
  return {
    has: async (address) => {
      const { creations } = await latest.get(
        ({ creations }, ageMs) => ageMs <= (creations.has(address) ? MAX_AGE_MS : MIN_AGE_MS),
      )
      return creations.has(address)
    },
    creationOf: async (address) => (await newest()).creations.get(address),
    countInUse: async () => (await newest()).inUse,
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
