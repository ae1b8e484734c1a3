import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Address } from '../../clickhouse/store/values.js'
import { NotFoundError } from '../http/errors.js'

/** Values of `value`, separated by commas. */
const list = <Value extends z.ZodType<unknown, string>>(value: Value, most: number) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(value).max(most))
    .optional()

/** A query parameter with some of `types`. */
export const TypesQuery = <const Types extends readonly [string, ...string[]]>(types: Types) =>
  list(z.enum(types), types.length).meta({
    description: `Only these types, separated by commas: ${types.join(', ')}`,
    examples: [types.slice(0, 2).join(',')],
  })

/** A query parameter with addresses. */
export const StablesQuery = list(Address, 40).meta({
  description:
    'Only what concerns one of these stables, addresses separated by commas; of flows, at either end. What is about the service itself comes always.',
})

/** A place in the log of events. */
export const Sequence = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
  .meta({ description: '`sequence` of the last event that is known; 0: the beginning of the log', examples: ['0'] })

/** Throws the 404 when one of the addresses is not a tracked stable's. */
export async function requireStables(app: FastifyInstance, addresses: readonly string[] = []): Promise<void> {
  for (const address of addresses)
    if (!(await app.stables.has(address)))
      throw new NotFoundError('unknown-stable', `${address} is not a tracked stable`, 'stable')
}
