import { z } from 'zod'
import { STANDS } from '../jobs/standing-snapshot.js'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { dateTime, integerText } from '../store/values.js'
import { RESERVE_TYPES } from './reserves.js'

/** A stable's newest reserve snapshot at or before `as_of`; nothing before its first. */
export const reservesAt = nearFirst(
  defineQuery({
    name: 'reserves_at',
    params: z.object({ stable: z.string(), as_of: z.date(), is_near: z.boolean() }),
    row: z.object({
      slot_at: dateTime,
      reserve_type: z.enum(RESERVE_TYPES),
      supply_raw: integerText.nullable(),
      price_micros: z.int().nullable(),
      sample_status: z.enum(['quoted', 'anchor', 'no_liquidity', 'no_pair', 'not_usd', 'paused', 'failed']).nullable(),
      label: z.string().nullable(),
      issuer: z.string().nullable(),
      backing_model: z.string().nullable(),
      attestation_source: z.string().nullable(),
      attested_at: dateTime.nullable(),
    }),
    sql: `
    SELECT slot_at, reserve_type, toString(supply_raw) AS supply_raw, price_micros,
           sample_status, label, issuer, backing_model, attestation_source, attested_at
    FROM reserve_snapshots
    WHERE stable = {stable: String} AND slot_at <= {as_of: DateTime} AND ${near('slot_at', 'as_of')} AND ${STANDS}
    ORDER BY slot_at DESC, revision DESC LIMIT 1`,
  }),
)
