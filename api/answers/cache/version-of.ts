import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * Changes with what a body depends on besides its request and the data: the version of the formulas, and the shape that
 * `responses` give to a 200. So no answer of another version of this service is taken for one of this.
 */
export function versionOf(methodology: string, responses: unknown): string {
  const shape = (responses as Record<string, unknown> | undefined)?.['200']
  const text = shape instanceof z.ZodType ? JSON.stringify(z.toJSONSchema(shape, { io: 'input' })) : ''
  return createHash('sha256').update(`${methodology} ${text}`).digest('base64url').slice(0, 8)
}
