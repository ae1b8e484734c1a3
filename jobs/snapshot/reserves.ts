import type { ClickHouseClient } from '@clickhouse/client'
import { databaseChainId } from '../../clickhouse/chain/identity.js'
import { currentPegs } from '../../clickhouse/peg/current.js'
import { issuerOf } from '../../clickhouse/reserves/issuers.js'
import { publishReserves, type ReserveSnapshot } from '../../clickhouse/reserves/reserves.js'
import { suppliesAt } from '../../clickhouse/stablecoins/newest-states.js'
import type { Slot } from '../schedule/run-slots.js'

/**
 * Stores the backing of every stable that is in use at the slot: its newest supply, its price if it is quoted then, and its
 * entry in the registry of issuers.
 */
export async function snapshotReserves(
  clickhouse: ClickHouseClient,
  slot: Slot,
  now = () => new Date(),
): Promise<number> {
  const [chainId, supplies, pegs] = await Promise.all([
    databaseChainId(clickhouse),
    suppliesAt(clickhouse, { at: slot.at }),
    currentPegs(clickhouse, { as_of: slot.at }),
  ])
  const rows = supplies.map(({ stable, supply_raw, state_block_number }): ReserveSnapshot => {
    const peg = pegs(stable)
    const quoted = peg.newest?.sell_micros != null ? peg.newest : null
    const issuer = issuerOf(chainId ?? 0, stable, slot.at)
    return {
      stable,
      slot_at: slot.at.getTime() / 1000,
      revision: slot.revision,
      reserve_type: issuer?.reserve_type ?? 'unknown',
      supply_raw,
      state_block_number,
      price_micros: quoted?.sell_micros ?? null,
      price_block_number: quoted?.block_number ?? null,
      sample_status: peg.newest?.status ?? null,
      label: issuer?.label ?? null,
      issuer: issuer?.issuer ?? null,
      backing_model: issuer?.backing_model ?? null,
      attestation_source: issuer?.attestation_source ?? null,
      attested_at: issuer?.attested_at ? Date.parse(issuer.attested_at) / 1000 : null,
    }
  })
  return publishReserves(clickhouse, rows, slot, now())
}
