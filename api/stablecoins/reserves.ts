import { z } from 'zod'
import { Coverage, coverageOf, withState } from '../../clickhouse/chain/coverage.js'
import type { Asked } from '../../clickhouse/chain/missing.js'
import { unsampledAt } from '../../clickhouse/chain/sampling.js'
import { searchedTo } from '../../clickhouse/chain/searched.js'
import { lateSecondsOf, PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { backingUsd, RESERVE_TYPES, reservesAt } from '../../clickhouse/reserves/reserves.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { lastSeconds } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { publicationOf, publicationShape } from '../answers/known-at.js'
import type { Creation } from '../answers/stable.js'

const usd = z.number().nonnegative().nullable()

/** Stands for an issuer that the registry does not have. */
const UNDISCLOSED = { label: 'Undisclosed issuer', issuer: 'unknown', backing_model: 'unknown' }

const ReservesResponse = z.object({
  address: stableAddress,
  market_value_usd: usd.meta({
    description: 'Supply on this chain times price, in USD; null when either was not measured',
  }),
  backing: z
    .object({
      claimed_model: z.string().meta({ description: 'What the issuer says that it holds against each token' }),
      attestation_source: z.url().nullable().meta({ description: 'The page on which the issuer says so' }),
      attested_at: z.iso.datetime().meta({ description: 'When this service compared that with the page' }),
    })
    .nullable()
    .meta({ description: 'null if this service knows nothing about what backs the stable' }),
  total_backing_usd: usd.meta({
    description: 'The same as market_value_usd. It is not the amount of any reserve: see backing',
  }),
  reserves: z
    .array(
      z.object({
        reserve_type: z.enum(RESERVE_TYPES).meta({ description: 'unknown: the issuer is not disclosed' }),
        backing_usd: usd.meta({ description: 'Supply on this chain times price, in USD' }),
        attestation_source: z.url().nullable().meta({ description: 'The issuer’s transparency page' }),
        attested_at: z.iso.datetime().nullable().meta({
          description: 'When the issuer’s details were last compared with their sources',
        }),
        verified_by: z
          .enum(['service_curated', 'unverified'])
          .meta({ description: 'Whether this service has compared them with the issuer’s page' }),
        notes: z
          .object({
            label: z.string().meta({ description: 'What it is called' }),
            issuer: z.string().meta({ description: 'Who issues it' }),
            backing_model: z.string().meta({ description: 'What the issuer holds against it' }),
          })
          .meta({ description: 'Details of the reserve' }),
      }),
    )
    .meta({ description: 'One entry per kind of reserve' }),
  computed_at: z.iso.datetime().meta({ description: 'The full hour that the figures are about' }),
  coverage: Coverage,
  ...publicationShape,
})

/** The hour up to an instant, in which the newest snapshot was taken. */
const asksOf = ({ stable, at, since }: { stable: string; at: Date; since: Creation | undefined }): Asked => ({
  families: ['pegs', 'state'],
  stable,
  since,
  ...lastSeconds(at, PERIOD_SECONDS.reserves),
})

export const reservesRoute = endpoint({
  path: '/stablecoins/:address/reserves',
  tag: 'reserves',
  operationId: 'getReserves',
  summary: 'What backs a stable on this chain, now or at any time',
  description: 'The amount on this chain, updated every full hour; not the issuer’s reserves elsewhere.',
  about: 'snapshot',
  response: ReservesResponse,
  cache: CACHE_POLICIES.reserves,
  covers: asksOf,
  answer: async ({ app, stable, at, knownAt, ledger, since, signal, reads }) => {
    const snapshot = await reservesAt(app.clickhouse, { stable, as_of: at, known_at: knownAt }, { signal })
    if (!snapshot) return null
    const { slot_at, reserve_type, supply_raw, price_micros, sample_status, ...entry } = snapshot
    const { attestation_source, attested_at } = entry
    const asks = asksOf({ stable, at, since })
    const searches = [searchedTo(slot_at.getTime() / 1000, lateSecondsOf('reserves'))]
    const unsampled =
      sample_status === null
        ? await unsampledAt(app.clickhouse, { stable, at: slot_at, recorded_by: knownAt ?? undefined }, reads)
        : null
    const backing_usd = backingUsd(supply_raw === null ? null : BigInt(supply_raw), price_micros)
    return {
      address: stable,
      market_value_usd: backing_usd,
      backing: attested_at && {
        claimed_model: entry.backing_model ?? UNDISCLOSED.backing_model,
        attestation_source,
        attested_at: isoSeconds(attested_at),
      },
      total_backing_usd: backing_usd,
      reserves: [
        {
          reserve_type,
          backing_usd,
          attestation_source,
          attested_at: attested_at && isoSeconds(attested_at),
          verified_by: attested_at ? ('service_curated' as const) : ('unverified' as const),
          notes: {
            label: entry.label ?? UNDISCLOSED.label,
            issuer: entry.issuer ?? UNDISCLOSED.issuer,
            backing_model: entry.backing_model ?? UNDISCLOSED.backing_model,
          },
        },
      ],
      computed_at: slot_at.toISOString(),
      coverage: withState(
        coverageOf(ledger, { ...asks, searches }),
        supply_raw === null
          ? { status: 'unavailable', message: 'Its supply was never read.' }
          : pegCoverage(sample_status, price_micros !== null, unsampled),
      ),
      ...publicationOf(snapshot, knownAt),
    }
  },
})
