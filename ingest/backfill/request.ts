import { parseArgs } from 'node:util'
import { z } from 'zod'
import { BACKFILLED_FAMILIES, type Family } from '../../clickhouse/chain/batches.js'
import { Address } from '../../clickhouse/store/values.js'
import { ConfigError } from '../../process/environment.js'
import { FIRST_BLOCK } from '../batch/decode.js'
import type { AgainRequest } from './again.js'
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
    from: blockNumber.optional(),
    to: blockNumber.optional(),
    stables: list.pipe(z.array(Address)).optional(),
    only: list.pipe(z.array(z.enum(BACKFILLED_FAMILIES, `must be ${OR.format(BACKFILLED_FAMILIES)}`))).optional(),
    'newest-first': z.boolean().default(false),
    again: z.boolean().default(false),
  })
  .refine(({ from = 0, to = Number.MAX_SAFE_INTEGER }) => from <= to, {
    path: ['to'],
    message: 'must not be before --from',
  })
  .refine(({ again, stables, only, 'newest-first': newestFirst }) => !again || !(stables || only || newestFirst), {
    path: ['again'],
    message: 'takes no flags but --from and --to',
  })

const USAGE = `npm run backfill -- [--from N] [--to N] [--stables 0x...,0x...] [--only ${BACKFILLED_FAMILIES.join('|')}] [--newest-first]
reads what is missing behind the block at which ingest began; --stables limits pegs and state
npm run backfill -- --again [--from N] [--to N]
reads the logs of blocks again whose events an older version did not know, and adds what it left out`

/** Parses the command line; without `--only`, it is about the families `read`. Throws ConfigError naming every bad flag. */
export function parseRequest(args: string[], read: readonly Family[]): BackfillRequest | { again: AgainRequest } {
  const text = { type: 'string' } as const
  let values: object
  try {
    const flag = { type: 'boolean' } as const
    const options = { from: text, to: text, stables: text, only: text, 'newest-first': flag, again: flag }
    values = parseArgs({ args, options, allowPositionals: false }).values
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error), USAGE])
  }
  const { success, data, error } = Flags.safeParse(values)
  if (!success)
    throw new ConfigError([...error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`), USAGE])
  if (data.again) return { again: { from: data.from ?? null, to: data.to ?? null } }
  const {
    from = FIRST_BLOCK,
    to = Number.MAX_SAFE_INTEGER,
    stables = [],
    only = BACKFILLED_FAMILIES.filter((family) => read.includes(family)),
    'newest-first': newestFirst,
  } = data
  return { from, to, stables: [...new Set(stables)], families: [...new Set(only)], newestFirst }
}
