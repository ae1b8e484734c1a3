import { parseArgs } from 'node:util'
import { z } from 'zod'
import { BACKFILLED_FAMILIES, type Family } from '../../clickhouse/chain/batches.js'
import { Address } from '../../clickhouse/store/values.js'
import { ConfigError } from '../../process/environment.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import type { BackfillRequest } from './backfill.js'

const blockNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a block number')
  .transform(Number)
  .refine((number) => number >= FIRST_BLOCK, `must be a block number from ${FIRST_BLOCK}`)
const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' })
const list = z.string().transform((text) => text.split(',').map((item) => item.trim().toLowerCase()))

const Flags = z
  .object({
    from: blockNumber.default(FIRST_BLOCK),
    to: blockNumber.default(Number.MAX_SAFE_INTEGER),
    stables: list.pipe(z.array(Address)).default([]),
    only: list.pipe(z.array(z.enum(BACKFILLED_FAMILIES, `must be ${OR.format(BACKFILLED_FAMILIES)}`))).optional(),
    'newest-first': z.boolean().default(false),
  })
  .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not be before --from' })

const USAGE = `npm run backfill -- [--from N] [--to N] [--stables 0x...,0x...] [--only ${BACKFILLED_FAMILIES.join('|')}] [--newest-first]
reads what is missing behind the block at which ingest began; --stables limits pegs and state`

/** Parses the command line; without `--only`, it is about the families `read`. Throws ConfigError naming every bad flag. */
export function parseRequest(args: string[], read: readonly Family[]): BackfillRequest {
  const text = { type: 'string' } as const
  let values: object
  try {
    const options = { from: text, to: text, stables: text, only: text, 'newest-first': { type: 'boolean' } as const }
    values = parseArgs({ args, options, allowPositionals: false }).values
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error), USAGE])
  }
  const { success, data, error } = Flags.safeParse(values)
  if (!success)
    throw new ConfigError([...error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`), USAGE])
  const {
    from,
    to,
    stables,
    only = BACKFILLED_FAMILIES.filter((family) => read.includes(family)),
    'newest-first': newestFirst,
  } = data
  return { from, to, stables: [...new Set(stables)], families: [...new Set(only)], newestFirst }
}
