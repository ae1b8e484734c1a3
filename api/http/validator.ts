import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { InvalidRequestError } from './errors.js'
import { detailOf, faultsOf } from './parameter-faults.js'

/** Checks requests with the zod schemas of their routes; what is wrong with them is said in words. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart = 'request' }) =>
  (data) => {
    const result = schema.safeParse(data, { error: detailOf })
    return result.success
      ? { value: result.data }
      : { error: new InvalidRequestError(faultsOf(result.error, httpPart)) }
  }
