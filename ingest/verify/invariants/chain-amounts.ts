import type { ClickHouseClient } from '@clickhouse/client'
import { feeManagerChanges } from '../../../clickhouse/queries/invariants/fee-manager-changes.js'
import { mintedSupply } from '../../../clickhouse/queries/invariants/minted-supply.js'
import type { Stablecoin } from '../../../clickhouse/tables/stablecoins.js'
import { FEE_MANAGER } from '../../chain/addresses.js'
import type { BlockId } from '../../sources/multicall.js'
import type { Rpc } from '../../sources/rpc.js'
import { StateUnavailableError } from '../../sources/state-unavailable.js'
import { compared, type Finding, notChecked } from '../finding.js'
import { type Read, readAmounts } from '../token-amounts.js'

/** What is compared with the chain: everything after the block `first`, up to the block `last`. */
export type Stretch = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  /** All that exist at `last`. */
  stables: readonly Stablecoin[]
  first: BlockId
  last: BlockId
}

/**
 * What the facts of a stretch add up to for each stable, against how an amount has changed on the chain meanwhile. A
 * stable that did not exist at its beginning had nothing.
 */
async function checkAmounts(
  what: string,
  { rpc, stables, first, last }: Stretch,
  read: Read,
  changes: Promise<Array<{ stable: string; change_raw: string }>>,
): Promise<Finding> {
  const addresses = stables.map(({ stable }) => stable)
  const old = stables.filter(({ block_number }) => block_number <= first.number).map(({ stable }) => stable)
  const byFacts = new Map((await changes).map(({ stable, change_raw }) => [stable, BigInt(change_raw)]))
  try {
    const [before, after] = await Promise.all([
      readAmounts(rpc, old, read, first),
      readAmounts(rpc, addresses, read, last),
    ])
    const unknown = [...byFacts.keys()].filter((stable) => !after.has(stable))
    const differences = addresses.flatMap((stable) => {
      const change = (after.get(stable) ?? 0n) - (before.get(stable) ?? 0n)
      const facts = byFacts.get(stable) ?? 0n
      return facts === change ? [] : [`${stable}: the facts say ${facts}, the chain ${change}`]
    })
    const scope = `${addresses.length} stables, blocks ${first.number + 1} to ${last.number}`
    return compared(what, scope, [...unknown.map((stable) => `${stable} is no known stable`), ...differences])
  } catch (error) {
    if (error instanceof StateUnavailableError) return notChecked(what, error.message)
    throw error
  }
}

/** Mints minus burns of each stable, against the change of its supply. */
export const checkSupply = (stretch: Stretch): Promise<Finding> =>
  checkAmounts(
    'mints minus burns = supply',
    stretch,
    { functionName: 'totalSupply', args: [] },
    mintedSupply(stretch.clickhouse, { after: stretch.first.number, to: stretch.last.number }),
  )

/** Fees in, distributions out, and the pools, against what the fee manager holds of each stable. */
export const checkFees = (stretch: Stretch): Promise<Finding> =>
  checkAmounts(
    'fees = what the fee manager holds',
    stretch,
    { functionName: 'balanceOf', args: [FEE_MANAGER] },
    feeManagerChanges(stretch.clickhouse, { after: stretch.first.number, to: stretch.last.number }),
  )
