import { planMarket } from '../../local/chain/plan.js'
import type { ChainOptions, TestChain } from './own-chain.js'
import { giveBackChain, takeChain } from './pool/client.js'

/**
 * A local chain with its planned history mined and no block after it. It is lent by the pool; `remove` returns it and
 * reverts the blocks that the test mined.
 */
export async function stillChain(options: ChainOptions = {}): Promise<TestChain> {
  const { id, params, ...chain } = await takeChain(options)
  const plan = planMarket(params)
  return { ...chain, plan, head: params.blocks, remove: () => giveBackChain(id) }
}
