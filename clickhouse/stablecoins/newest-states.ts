import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { isRecent, recentFirstByStable } from '../chain/recent-first.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import type { OfStable } from '../store/together.js'
import { integerText } from '../store/values.js'
import { stablesInUse } from './stablecoins.js'

/** The types of transfer policies in the registry, in the order of their TIP-403 numbers. */
const REGISTERED_TYPES = ['whitelist', 'blacklist', 'compound'] as const
/** The type of a policy that the registry has made, or may have had from a fork that is not known here. */
export type RegisteredPolicyType = (typeof REGISTERED_TYPES)[number] | 'unknown'
/** The type of a policy by its TIP-403 number; the chain may add numbers. */
export const registeredPolicyType = (number: number): RegisteredPolicyType => REGISTERED_TYPES[number] ?? 'unknown'

/** The kinds of transfer policies. */
export const PolicyType = z.enum(['allow_all', 'reject_all', ...REGISTERED_TYPES, 'unknown']).meta({
  description:
    'Who may send and receive: everyone, no one, listed accounts, all but listed accounts, as several policies decide, or by a rule that Plumbline does not know',
})
export type PolicyType = z.infer<typeof PolicyType>

const NewestState = z.object({
  stable: z.string(),
  supply_raw: integerText,
  cap_raw: integerText,
  paused: z.boolean(),
  policy_id: integerText,
  policy_type: PolicyType,
  policy_admin: z.string().nullable(),
  state_block_number: integerText,
})

const newestReads = recentFirstByStable(
  defineQuery({
    name: 'newest_states',
    params: z.object({ stables: z.array(z.string()), at: z.date(), recent_only: z.boolean() }),
    row: NewestState,
    sql: `
    SELECT stable, toString(supply_raw) AS supply_raw, toString(cap_raw) AS cap_raw, paused, toString(policy_id) AS policy_id,
           policy_type, policy_admin, toString(block_number) AS state_block_number
    FROM state_reads
    WHERE (stable, block_time) IN
          (
              SELECT stable, max(block_time) FROM state_reads
              WHERE stable IN {stables: Array(String)} AND block_time <= {at: DateTime} AND ${isRecent('block_time', 'at')}
              GROUP BY stable
          )
    ORDER BY block_number DESC LIMIT 1 BY stable`,
  }),
)

/** The newest state of each of some stables that was read up to an instant, however long ago; null if none was. */
export async function newestStates(
  clickhouse: ClickHouseClient,
  { stables, at }: { stables: readonly string[]; at: Date },
  options?: ReadOptions,
): Promise<OfStable<Omit<z.output<typeof NewestState>, 'stable'> | null>> {
  const states = new Map(
    await inParts(stables, async (part) => {
      const newest = await newestReads(clickhouse, { stables: part, at }, options)
      return part.map((stable) => [stable, newest(stable)[0] ?? null] as const)
    }),
  )
  return (stable) => states.get(stable) ?? null
}

/**
 * Every stable that is in use at `at`, with its newest supply by then and the block at which it was read; null if none was
 * read.
 */
export async function suppliesAt(clickhouse: ClickHouseClient, { at }: { at: Date }) {
  const stables = (await stablesInUse(clickhouse, { at })).map(({ stable }) => stable)
  const states = await newestStates(clickhouse, { stables, at })
  return stables.map((stable) => {
    const { supply_raw, state_block_number } = states(stable) ?? { supply_raw: null, state_block_number: null }
    return { stable, supply_raw, state_block_number }
  })
}
