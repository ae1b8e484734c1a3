import type { ClickHouseClient } from '@clickhouse/client'
import { type Family, insertCommittedBatch, insertPlannedBatch } from '../../clickhouse/chain/batches.js'
import type { StateRead } from '../../clickhouse/stablecoins/states.js'
import type { SupplyEvent } from '../../clickhouse/supply/supply.js'
import { randomFor, shuffled } from '../../local/chain/random.js'
import type { StoredBlocks } from '../../oracle/coverage.js'
import { account, addRows } from './economy-rows.js'
import { addBareBlocks, stableAddress, stablecoin, stateRead, supplyEvent, txHash } from './rows.js'

const BLOCKS = 1200
const EVERY: readonly Family[] = ['catalogue', 'logs', 'pegs', 'state']
const LOGS: readonly Family[] = ['catalogue', 'logs']

/** Which blocks ingest has read, and what of them: there are two holes, and a stretch without states. */
const STRETCHES = [
  { from: 1, to: 150, families: EVERY },
  { from: 231, to: 600, families: EVERY },
  { from: 601, to: 640, families: LOGS },
  { from: 641, to: 900, families: EVERY },
  { from: 904, to: BLOCKS, families: EVERY },
]

const familiesOf = (block: number): readonly Family[] =>
  STRETCHES.find(({ from, to }) => from <= block && block <= to)?.families ?? []

/** The stables, and where each was made: at genesis, with the first block, and late; the last one is never minted. */
const MADE_IN = [0, 1, 850, 2]
const MOST = 2n ** 128n - 1n

/**
 * Eleven weeks of mints and burns in blocks that are minutes to hours apart, some in the same second: several in one block,
 * many of the same amount, burns from blocked accounts, changes of the cap, and one stable with nearly all that a token can
 * have. What lies in blocks that ingest has not read is missing, though the supply goes on from it.
 */
export function randomIssuance(seed: number, start: number) {
  const random = randomFor(seed, 'issuance')
  const stables = MADE_IN.map((_, i) => stableAddress(i + 1))
  const supplies = new Map(stables.map((stable, i) => [stable, i === 1 ? 10n ** 38n : i === 0 ? 10n ** 12n : 0n]))
  const events: SupplyEvent[] = []
  const states: StateRead[] = []
  const times: number[] = []
  for (let block_number = 1, block_time = start; block_number <= BLOCKS; block_number++) {
    block_time += random.chance(0.1) ? 0 : random.int(1, 11_000)
    times.push(block_time)
    const families = familiesOf(block_number)
    for (const [i, stable] of stables.entries()) {
      let supply = supplies.get(stable) as bigint
      const isQuiet = i === 3 || block_number <= (MADE_IN[i] as number)
      const drawn = isQuiet || random.chance(0.6) ? 0 : random.int(1, 4)
      for (let log = 0; log < drawn; log++) {
        const kind = random.pick(['mint', 'mint', 'burn', 'burn_at', 'burn_blocked', 'cap'] as const)
        const most = kind === 'mint' ? MOST - supply : supply
        const wanted = random.chance(0.5)
          ? 5_000_000n
          : BigInt(random.int(1, 1e9)) * (i === 1 ? 10n ** BigInt(random.int(0, 28)) : 1n)
        const amount = wanted > most ? most : wanted
        if (kind === 'mint') supply += amount
        else if (kind !== 'cap') supply -= amount
        const at = { block_number, block_time, log_index: 4 * i + log, tx_hash: txHash(block_number * 100 + i) }
        if (families.includes('logs'))
          events.push(supplyEvent(stable, { ...at, kind, account: account(random.int(1, 9)), amount_raw: `${amount}` }))
      }
      supplies.set(stable, supply)
      const isRead = block_number === MADE_IN[i] || drawn > 0 || random.chance(0.1)
      if (block_number >= (MADE_IN[i] as number) && isRead && families.includes('state'))
        states.push(stateRead(stable, { block_number, block_time, supply_raw: `${supply}` }))
    }
  }
  const genesis = start - 60
  const timeOf = (block: number): number => times[block - 1] ?? genesis
  const stored: StoredBlocks = {
    started_at: genesis,
    last: BLOCKS,
    timeOf: (block) => (familiesOf(block).length > 0 ? timeOf(block) : null),
    isStored: (family, block) => familiesOf(block).includes(family as Family),
    gaps: [],
    lists: [],
    books: [],
  }
  const stablecoins = MADE_IN.map((block_number, i) =>
    stablecoin(i + 1, { block_number, block_time: timeOf(block_number) }),
  )
  /** Writes all of it as ingest would have. */
  async function add(clickhouse: ClickHouseClient): Promise<void> {
    const facts = { stablecoins, supply_events: shuffled(events, random), state_reads: shuffled(states, random) }
    await addRows(clickhouse, facts)
    for (const [i, { from, to, families }] of STRETCHES.entries()) {
      await addBareBlocks(clickhouse, times.slice(from - 1, to), from)
      const batch = { sequence_number: i + 1, from_block: from, to_block: to, last_hash: '', writer: 'test' }
      for (const insert of [insertPlannedBatch, insertCommittedBatch])
        await insert(clickhouse, { track: 'backfill', ...batch, families: [...families], stables: [] })
    }
  }
  return { stables, times, stored, add }
}
