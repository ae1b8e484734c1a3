import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { REFERENCE_STABLE } from '../../clickhouse/peg/peg.js'
import { Address } from '../../clickhouse/store/values.js'
import { NotFoundError } from '../http/errors.js'

/** The path of everything about one stable. */
export const StableParams = z.strictObject({
  address: Address.meta({
    description: 'Address of a tracked stable, in any letter case',
    examples: [REFERENCE_STABLE],
  }),
})

/** For routes without query parameters: a mistyped one must not be ignored silently. */
export const NoQuery = z.strictObject({})

/** The 404 for an address that is none of the tracked stables'. */
export function unknownStable(address: string): NotFoundError {
  return new NotFoundError('unknown-stable', `${address} is not a tracked stable`, 'address')
}

/** Throws the 404 when `address` is not a tracked stable. */
export async function requireStable(app: FastifyInstance, address: string): Promise<void> {
  if (!(await app.stables.has(address))) throw unknownStable(address)
}
