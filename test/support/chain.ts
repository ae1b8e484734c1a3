import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, test as base, beforeAll } from 'vitest'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'
import { planMarket } from '../../local/chain/plan.js'
import { ingestAll } from './ingest.js'
import type { ChainOptions, TestChain } from './own-chain.js'
import { giveBackChain, takeChain } from './pool/client.js'
import { withDatabase } from './services.js'
import type { T12Options } from './t12/blocks.js'
import { type T12Node, t12Node } from './t12/node.js'

/** A chain of the pool. */
export type StillChain = TestChain & { id: string }

/**
 * A local chain with its planned history mined and no block after it. It is lent by the pool; `remove` returns it and
 * reverts the blocks that the test mined. With `LOCAL_FORK=T12`, it is a chain of T12.
 */
export async function stillChain(options: ChainOptions = {}): Promise<StillChain> {
  if (process.env.LOCAL_FORK === 'T12') return t12Chain({ ...options, actions: 12, blocksASecond: 2 })
  const { params, ...chain } = await takeChain(options)
  const plan = planMarket(params)
  return { ...chain, plan, head: params.blocks, remove: () => giveBackChain(chain.id) }
}

/** A chain of T12 in front of a local one, whose own node is at `localUrl`. */
export type T12Chain = StillChain & Pick<T12Node, 'inject' | 'blocks'> & { localUrl: string }

/** A still chain behind a node that makes a chain of T12 of it. */
export async function t12Chain({ actions, blocksASecond, ...options }: ChainOptions & T12Options): Promise<T12Chain> {
  const { params, ...chain } = await takeChain(options)
  const { url, inject, blocks, close } = await t12Node(chain.rpcUrl, { actions, blocksASecond })
  const remove = async (): Promise<void> => {
    await close()
    await giveBackChain(chain.id)
  }
  const genesisHash = (await blocks())[0]?.hash as string
  // Databases that the pool keeps are of the local chain.
  const own = { id: `${chain.id} ${url}`, rpcUrl: url, localUrl: chain.rpcUrl, genesisHash, plan: planMarket(params) }
  return { ...chain, ...own, head: params.blocks, inject, blocks, remove }
}

/** Such a chain for the tests of a file. It has its properties once the first test, or a `beforeAll` that follows, begins. */
export function useStillChain(options: ChainOptions = {}): StillChain {
  const chain = {} as StillChain
  beforeAll(async () => {
    Object.assign(chain, await stillChain(options))
  })
  afterAll(() => chain.remove?.())
  return chain
}

type TakenIn = {
  clickhouse: ClickHouseClient
  clickhouseEnv: ClickHouseEnv
  /** Takes in the blocks that were mined since. */
  takeIn: () => Promise<void>
}

/** Tests of a file that share one database of such a chain: each mines blocks of its own, and only these are read then. */
export const testOn = (chain: StillChain) =>
  base.extend<TakenIn>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    clickhouseEnv: [({}, use) => withDatabase((env) => use(env)), { scope: 'file' }],
    clickhouse: [
      async ({ clickhouseEnv }, use) => {
        const clickhouse = connect(clickhouseEnv, { application: 'plumbline-test' })
        await use(clickhouse)
        await clickhouse.close()
      },
      { scope: 'file' },
    ],
    takeIn: async ({ clickhouse, clickhouseEnv }, use) =>
      use(() => ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)),
  })
