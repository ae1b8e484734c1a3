import { afterAll, beforeAll } from 'vitest'
import { planMarket } from '../../local/chain/plan.js'
import type { ChainOptions, TestChain } from './own-chain.js'
import { giveBackChain, takeChain } from './pool/client.js'

/** A chain of the pool. */
export type StillChain = TestChain & { id: string }

/**
 * A local chain with its planned history mined and no block after it. It is lent by the pool; `remove` returns it and
 * reverts the blocks that the test mined.
 */
export async function stillChain(options: ChainOptions = {}): Promise<StillChain> {
  const { params, ...chain } = await takeChain(options)
  const plan = planMarket(params)
  return { ...chain, plan, head: params.blocks, remove: () => giveBackChain(chain.id) }
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
