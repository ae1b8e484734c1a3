import type { ClickHouseClient } from '@clickhouse/client'
import { newestSnapshot, unexplainedSupply } from '../../../clickhouse/holders/balances.js'
import {
  differingBalances,
  drawnBalances,
  keptStables,
  negativeBalances,
  suppliesAgainstBalances,
} from '../../../clickhouse/holders/invariants.js'
import type { Stablecoin } from '../../../clickhouse/stablecoins/stablecoins.js'
import type { BlockId } from '../../../ingest/sources/multicall.js'
import type { Rpc } from '../../../ingest/sources/rpc.js'
import { StateUnavailableError } from '../../../ingest/sources/state-unavailable.js'
import { END_OF_TIME } from '../../../process/instants.js'
import { compared, type Finding, notChecked } from '../finding.js'
import { readBalances } from './chain-amounts.js'

const SUPPLY = 'sum of balances = supply, none below 0'
const CHAIN = 'balances = what the chain has'
const KEPT = 'kept balances = all transfers'
const END = new Date(END_OF_TIME * 1000)
/** Accounts whose balances the node is asked for. */
const ASKED = 500

export type Holdings = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  stables: readonly Stablecoin[]
  /** Ranges of blocks whose transfers are stored: the first block's number, and the last block. */
  ranges: ReadonlyArray<{ first: { number: number }; last: BlockId }>
  seed: number
}

/** The stables all of whose transfers are stored in a range; without those that existed before the first transfer. */
async function wholeIn({ clickhouse, stables }: Holdings, { first, last }: Holdings['ranges'][number]) {
  const created = stables.filter(
    ({ block_number }) => Math.max(1, block_number) >= first.number && block_number <= last.number,
  )
  const isExplained = async ({ stable, block_number }: Stablecoin): Promise<boolean> =>
    block_number > 0 || (await unexplainedSupply(clickhouse, { stable, at: END })) === '0'
  const explained = await Promise.all(created.map(isExplained))
  return created.filter((_, i) => explained[i]).map(({ stable }) => stable)
}

/** The accounts of some stables whose balances differ from the node's at the end of a block, and how many were asked for. */
async function differencesAt({ clickhouse, rpc, seed }: Holdings, stables: readonly string[], block: BlockId) {
  const drawn = await drawnBalances(clickhouse, { stables: [...stables], to_block: block.number, seed, most: ASKED })
  const balances = await readBalances(rpc, drawn, block)
  return {
    accounts: drawn.length,
    differences: drawn.flatMap(({ stable, account, balance }, i) =>
      `${balances[i]}` === balance
        ? []
        : [
            `${account} of ${stable}, block ${block.number}: the transfers add up to ${balance}, the chain has ${balances[i]}`,
          ],
    ),
  }
}

/** Every kept snapshot that is the newest of its stable has the balances that all transfers up to its slot give. */
async function checkKept(clickhouse: ClickHouseClient): Promise<Finding> {
  const stables = await keptStables(clickhouse)
  const differences: string[] = []
  let holders = 0
  for (const { stable } of stables) {
    const snapshot = await newestSnapshot(clickhouse, { stable, at: END })
    if (!snapshot) continue
    const kept = await differingBalances(clickhouse, { stable, ...snapshot })
    holders += kept.holders
    if (kept.differing > 0) differences.push(`${stable}: ${kept.differing} accounts`)
  }
  return compared(KEPT, `${holders} balances of ${stables.length} stables`, differences)
}

/**
 * The balances that follow from the transfers add up to the supply at every block at which it was read, no account has sent
 * more than it had, the node has the same balances for accounts drawn at random, and the kept ones are those of all transfers.
 */
export async function checkHolders(holdings: Holdings): Promise<Finding[]> {
  const { clickhouse, ranges, stables } = holdings
  if (ranges.length === 0)
    return [SUPPLY, CHAIN, KEPT].map((what) => notChecked(what, 'no transfers are stored: TRACK_HOLDERS was not set'))
  const wrong: string[] = []
  const onChain: string[] = []
  let [checked, reads, accounts, unavailable] = [0, 0, 0, '']
  for (const range of ranges) {
    const whole = await wholeIn(holdings, range)
    if (whole.length === 0) continue
    checked += whole.length
    const about = { stables: whole, to_block: range.last.number }
    for (const { stable, differing, first_block, reads: supplyReads } of await suppliesAgainstBalances(
      clickhouse,
      about,
    )) {
      reads += supplyReads
      if (differing > 0) wrong.push(`${stable}: at ${differing} of ${supplyReads} blocks, first ${first_block}`)
    }
    for (const { stable, account, balance } of await negativeBalances(clickhouse, about))
      wrong.push(`${account} has ${balance} of ${stable}`)
    try {
      const result = await differencesAt(holdings, whole, range.last)
      accounts += result.accounts
      onChain.push(...result.differences)
    } catch (error) {
      if (!(error instanceof StateUnavailableError)) throw error
      unavailable = error.message
    }
  }
  const scope = `${checked} of ${stables.length} stables, all of whose transfers are stored`
  return [
    compared(SUPPLY, `${scope}, ${reads} reads of supplies`, wrong),
    unavailable && accounts === 0
      ? notChecked(CHAIN, unavailable)
      : compared(CHAIN, `${scope}, ${accounts} accounts`, onChain),
    await checkKept(clickhouse),
  ]
}
