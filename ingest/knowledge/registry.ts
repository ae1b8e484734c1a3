import { LRUCache } from 'lru-cache'
import { type OpenedBook, sampledPeriods } from '../../clickhouse/chain/sampling.js'
import type { ListPeriod, Tier } from '../../clickhouse/chain/token-lists.js'
import { MOST_HOPS } from '../../clickhouse/exchange/routes.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'

/**
 * A stable that is sampled at a block, with its tier then. `sampled_from` is the first block of the stretch in which it is
 * sampled: that of its creation, of the list with which sampling began, or of its book.
 */
export type SampledStable = Pick<Stablecoin, 'stable' | 'currency' | 'admin' | 'block_number'> & {
  tier: Tier
  sampled_from: number
}

/** The stables that exist according to the logs so far. */
export type Registry = {
  add: (stable: Stablecoin) => void
  /** Records that a book was opened, which may be what its stable is sampled from on. Books come in order. */
  openBook: (book: OpenedBook) => void
  /** Records what a stable is quoted in from a block on. Blocks come in order. */
  setQuoteToken: (stable: string, quoteToken: string, blockNumber: number) => void
  /** The token that orders for `stable` are quoted in from now on; undefined for an unknown stable. */
  quoteTokenOf: (stable: string) => string | undefined
  has: (stable: string) => boolean
  /** The stables that existed before the first transaction. */
  genesis: () => readonly Stablecoin[]
  /**
   * The stables sampled at a block: those that existed at its end and that the list of its time sampled, in order of
   * creation. Returns the same array until it changes.
   */
  sampledAt: (blockNumber: number) => readonly SampledStable[]
  /**
   * Those of the stables sampled at a block that are more than `MOST_HOPS` books away from the reference stable at its
   * end. Returns the same set until it changes.
   */
  tooDeepAt: (blockNumber: number) => ReadonlySet<string>
  /** Whether a stable, sampled or not, is that many books away at the end of a block. */
  isTooDeep: (stable: string, blockNumber: number) => boolean
}

/** What a stable is quoted in from a block on. */
export type QuotedFrom = { stable: string; quote_token: string; block_number: number }

const NONE: ReadonlySet<string> = new Set()

/** The stables that are sampled in a stretch, and those of them that are at a block. */
function createView() {
  const members: { stable: SampledStable; from: number; place: number }[] = []
  const byStable = new Map<string, SampledStable>()
  // A few, as anybody may create stables: each block with a new one has another view of all of them.
  const views = new LRUCache<number, readonly SampledStable[]>({ max: 16 })
  return {
    /**
     * Adds a stable that is sampled from block `from` on, or says that it was already in the stretch before; `place` is its
     * place in the order of creation.
     */
    add: (stable: SampledStable, from: number, place: number): void => {
      const before = byStable.get(stable.stable)
      if (before?.sampled_from === stable.sampled_from) return
      byStable.set(stable.stable, stable)
      if (before)
        members.splice(
          members.findIndex((member) => member.stable === before),
          1,
        )
      members.splice(members.findLastIndex((member) => member.from <= from) + 1, 0, { stable, from, place })
    },
    at: (blockNumber: number): readonly SampledStable[] => {
      // Blocks come in order, and members are in the order in which they begin, so their number identifies the set.
      const count = members.findLastIndex(({ from }) => from <= blockNumber) + 1
      const view = views.get(count) ?? byPlace(members.slice(0, count))
      views.set(count, view)
      return view
    },
  }
}

const byPlace = (members: { stable: SampledStable; place: number }[]): SampledStable[] =>
  members.sort((a, b) => a.place - b.place).map(({ stable }) => stable)

/**
 * Starts from `stables`, in order of creation, and from the `books` that were opened for them. `periods`: which stables were
 * listed, and whose pegs were sampled, when. `quotedFrom`: what stables were quoted in at earlier blocks, in order, from creation on;
 * needed where old blocks are read.
 */
export function createRegistry(
  stables: readonly Stablecoin[],
  periods: readonly ListPeriod[],
  books: readonly OpenedBook[],
  quotedFrom: readonly QuotedFrom[] = [],
): Registry {
  const byAddress = new Map<string, Stablecoin & { place: number }>()
  const stretches = sampledPeriods(periods, books).map((period) => ({ period, view: createView() }))
  const quotes = createQuoteTokens(quotedFrom)
  let deep = { tracked: [] as readonly SampledStable[], changes: -1, content: '', set: NONE }

  const add = (created: Stablecoin): void => {
    if (byAddress.has(created.stable)) return
    byAddress.set(created.stable, { ...created, place: byAddress.size })
    quotes.add(created)
    sample(created.stable)
  }
  /** Adds a stable to the stretches in which it is sampled. */
  const sample = (address: string): void => {
    const created = byAddress.get(address)
    if (!created) return
    const { stable, currency, admin, block_number, place } = created
    let sampled_from: number | null = null
    for (const { period, view } of stretches) {
      const began = period.sampledFrom(stable)
      if (began) {
        const from = Math.max(began.block_number, block_number)
        if (from > period.from_block) sampled_from = null
        sampled_from ??= from
        const tier = period.listed.has(stable) ? 'listed' : 'unlisted'
        view.add({ stable, currency, admin, block_number, tier, sampled_from }, from, place)
      } else sampled_from = null
    }
  }
  stables.forEach(add)

  const sampledAt = (blockNumber: number): readonly SampledStable[] =>
    stretches.findLast(({ period }) => period.from_block <= blockNumber)?.view.at(blockNumber) ?? []

  return {
    add,
    openBook: (book) => {
      for (const { period } of stretches) period.open(book)
      sample(book.stable)
    },
    setQuoteToken: (address, quote_token, block_number) => {
      const stable = byAddress.get(address)
      if (!stable) return
      stable.quote_token = quote_token
      quotes.set({ stable: address, quote_token, block_number })
    },
    quoteTokenOf: (address) => byAddress.get(address)?.quote_token,
    has: (address) => byAddress.has(address),
    genesis: () => [...byAddress.values()].filter(({ block_number }) => block_number === 0),
    sampledAt,
    isTooDeep: quotes.isTooDeep,
    tooDeepAt: (blockNumber) => {
      const tracked = sampledAt(blockNumber)
      const changes = quotes.changesBy(blockNumber)
      if (tracked === deep.tracked && changes === deep.changes) return deep.set
      const tooDeep = tracked.filter(({ stable }) => quotes.isTooDeep(stable, blockNumber)).map(({ stable }) => stable)
      const content = tooDeep.join()
      deep = { tracked, changes, content, set: content === deep.content ? deep.set : new Set(tooDeep) }
      return deep.set
    },
  }
}

/** What each stable is quoted in, at any block. */
function createQuoteTokens(quotedFrom: readonly QuotedFrom[]) {
  const byStable = new Map<string, QuotedFrom[]>()
  // The blocks of all changes after creation, ascending.
  const changes: number[] = []
  const set = (quoted: QuotedFrom): void => {
    const changesOfStable = byStable.get(quoted.stable)
    if (!changesOfStable) byStable.set(quoted.stable, [quoted])
    else {
      changesOfStable.push(quoted)
      changes.push(quoted.block_number)
    }
  }
  quotedFrom.forEach(set)
  changes.sort((a, b) => a - b)
  const at = (stable: string, block: number): string | undefined =>
    byStable.get(stable)?.findLast(({ block_number }) => block_number <= block)?.quote_token

  return {
    set,
    /** A stable as it was created or as it is now, unless what it is quoted in is known already. */
    add: ({ stable, quote_token, block_number }: Stablecoin): void => {
      if (!byStable.has(stable)) set({ stable, quote_token, block_number })
    },
    /** How many changes there were up to a block. */
    changesBy: (block: number): number => changes.findLastIndex((number) => number <= block) + 1,
    isTooDeep: (stable: string, block: number): boolean => {
      let token: string | undefined = stable
      for (let hops = 0; hops <= MOST_HOPS; hops++) {
        // An unknown token is not ours to judge: the exchange answers for it.
        if (token === undefined || token === REFERENCE_STABLE) return false
        token = at(token, block)
      }
      return true
    },
  }
}
