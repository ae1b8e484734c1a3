import type { ClickHouseClient } from '@clickhouse/client'
import { type Family, insertCommittedBatch, insertPlannedBatch } from '../../clickhouse/chain/batches.js'
import { TIP20_CHANNEL_RESERVE, type Transfer } from '../../clickhouse/holders/transfers.js'
import type { StateRead } from '../../clickhouse/stablecoins/states.js'
import { randomFor, shuffled } from '../../local/chain/random.js'
import type { StoredBlocks } from '../../oracle/coverage.js'
import type { HolderFacts } from '../../oracle/holders.js'
import { account, addRows } from './economy-rows.js'
import { addBareBlocks, pairOf, stableAddress, stablecoin, stateRead, transfer } from './rows.js'

const BLOCKS = 600
const ZERO = `0x${'0'.repeat(40)}`
const EVERY: readonly Family[] = ['catalogue', 'logs', 'pegs', 'state', 'transfers']

type Stretch = { from: number; to: number; families: readonly Family[] }

/** All blocks with all families. */
export const WHOLE: readonly Stretch[] = [{ from: 1, to: BLOCKS, families: EVERY }]
/** Blocks that nobody has read, and some that were read without transfers. */
export const WITH_HOLES: readonly Stretch[] = [
  { from: 1, to: 200, families: EVERY },
  { from: 206, to: 400, families: EVERY },
  { from: 401, to: 420, families: EVERY.slice(0, 4) },
  { from: 421, to: BLOCKS, families: EVERY },
]

/**
 * The stables and where each was made: at genesis without and with a supply that no log explains, with the first block, and
 * after a hole. The fourth has nearly all that a token can have, the sixth is never transferred, the last has one holder.
 */
const MADE_IN = [0, 0, 1, 2, 430, 3, 4]
const MOST = 2n ** 128n - 1n
const GENESIS_SUPPLY = 10n ** 12n

/**
 * Six weeks of transfers in blocks that are minutes to hours apart, some in the same second: mints, burns, fees, forwards,
 * transfers to oneself and of nothing, accounts that send all they have, and equal balances.
 */
export function randomTransfers(seed: number, start: number, stretches: readonly Stretch[]) {
  const random = randomFor(seed, 'transfers')
  const stables = MADE_IN.map((_, i) => stableAddress(i + 1))
  const transfers: Transfer[] = []
  const states: StateRead[] = []
  const times: number[] = []
  const balances = stables.map(() => new Map<string, bigint>())
  const supplies = stables.map((_, i) => (i === 1 ? GENESIS_SUPPLY : 0n))
  const familiesOf = (block: number): readonly Family[] =>
    stretches.find(({ from, to }) => from <= block && block <= to)?.families ?? []

  /** The transfers of a stable in a block, as the chain would allow them. */
  function move(i: number, at: Pick<Transfer, 'block_number' | 'block_time'>): Transfer[] {
    const [stable, own] = [stables[i] as string, balances[i] as Map<string, bigint>]
    const most = i === 3 ? MOST : 10n ** 12n
    const send = (kind: Transfer['kind'], sender: string, recipient: string, amount: bigint, log: number): Transfer => {
      if (sender === ZERO) supplies[i] = (supplies[i] as bigint) + amount
      else own.set(sender, (own.get(sender) ?? 0n) - amount)
      if (recipient === ZERO) supplies[i] = (supplies[i] as bigint) - amount
      else own.set(recipient, (own.get(recipient) ?? 0n) + amount)
      return transfer(stable, { ...at, kind, sender, recipient, amount_raw: `${amount}`, log_index: 10 * i + log })
    }
    if (i === 5) return []
    if (i === 6) return supplies[i] === 0n ? [send('mint', ZERO, account(1), 1n, 0)] : []
    const moved: Transfer[] = []
    for (let log = 0; log < random.int(1, 4); log++) {
      const holders = [...own].filter(([, balance]) => balance > 0n).map(([holder]) => holder)
      const number = random.int(1, 150)
      const other = number > 5 ? account(number) : TIP20_CHANNEL_RESERVE
      const room = most - (supplies[i] as bigint)
      if (holders.length === 0 || (random.chance(0.25) && room > 0n)) {
        const amount = random.chance(0.3) ? 1_000_000n : BigInt(random.int(1, 1e6)) * (i === 3 ? 10n ** 32n : 1000n)
        moved.push(send('mint', ZERO, other, amount > room ? room : amount, log))
        continue
      }
      const holder = random.pick(holders)
      const all = own.get(holder) as bigint
      const amount = random.chance(0.3) ? all : random.chance(0.05) ? 0n : (all * BigInt(random.int(1, 99))) / 100n
      const kind = random.pick(['transfer', 'transfer', 'transfer', 'burn', 'fee', 'forward', 'self'] as const)
      if (kind === 'burn') moved.push(send('burn', holder, ZERO, amount, log))
      else if (kind === 'self') moved.push(send('transfer', holder, holder, amount, log))
      else if (kind === 'transfer' && [holder, other].includes(TIP20_CHANNEL_RESERVE))
        moved.push(send('custody', holder, other, amount, log))
      else moved.push(send(kind, holder, other, amount, log))
    }
    return moved
  }

  for (let block_number = 1, block_time = start; block_number <= BLOCKS; block_number++) {
    block_time += random.chance(0.1) ? 0 : random.int(1, 12_000)
    times.push(block_time)
    const families = familiesOf(block_number)
    for (const [i, stable] of stables.entries()) {
      const made = MADE_IN[i] as number
      if (block_number < made) continue
      const moved = random.chance(0.5) ? move(i, { block_number, block_time }) : []
      if (families.includes('transfers')) transfers.push(...moved)
      const isRead = block_number === Math.max(1, made) || moved.some(({ kind }) => ['mint', 'burn'].includes(kind))
      if (isRead && families.includes('state'))
        states.push(stateRead(stable, { block_number, block_time, supply_raw: `${supplies[i]}` }))
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
  const stablecoins = MADE_IN.map((block_number, i) => {
    return stablecoin(i + 1, { block_number, block_time: timeOf(block_number) })
  })
  /** What the definition of the figures needs of a stable. */
  const factsOf = (stable: string): HolderFacts => ({
    transfers: transfers.filter((row) => row.stable === stable),
    firstSupply: states.find((row) => row.stable === stable),
    created: stablecoins.find((row) => row.stable === stable),
    stored,
  })
  /** Writes all of it as ingest would have. */
  async function add(clickhouse: ClickHouseClient): Promise<void> {
    const facts = {
      stablecoins,
      dex_pairs: stablecoins.map(pairOf),
      transfers: shuffled(transfers, random),
      state_reads: shuffled(states, random),
    }
    await addRows(clickhouse, facts)
    for (const [i, { from, to, families }] of stretches.entries()) {
      await addBareBlocks(clickhouse, times.slice(from - 1, to), from)
      const batch = { sequence_number: i + 1, from_block: from, to_block: to, last_hash: '', writer: 'test' }
      for (const insert of [insertPlannedBatch, insertCommittedBatch])
        await insert(clickhouse, { track: 'backfill', ...batch, families: [...families], stables: [] })
    }
  }
  return { stables, times, factsOf, add }
}
