import { afterAll, beforeAll, expect, test } from 'vitest'
import { Quantity } from '../../../../ingest/chain/rpc-answers.js'
import { readDepths } from '../../../../ingest/sources/quotes.js'
import { type OwnChain, ownChain, resumeChain } from '../../../support/own-chain.js'
import { blockIdOf, rpcOf } from '../../../support/rpc.js'

const BLOCKS = 150
/** Fewer reads might all hit a moment at which no block is mined. */
const FEWEST_READS = 20

let chain: OwnChain

beforeAll(async () => {
  chain = await ownChain({ historyBlocks: BLOCKS })
}, 300_000)
afterAll(() => chain?.remove())

test('what is read of the newest block is its own state, also while a restarted node replays the chain', {
  timeout: 300_000,
}, async () => {
  const { rpcUrl } = chain
  const rpc = rpcOf(rpcUrl)
  const quoted = chain.plan.tokens.filter(({ hasPair }) => hasPair).map(({ address }) => address.toLowerCase())
  const depthsAt = async (number: number) => readDepths(rpc, quoted, await blockIdOf(rpcUrl, number))
  chain.child.kill('SIGKILL')
  let isResumed = false
  const resumed = resumeChain(chain).finally(() => {
    isResumed = true
  })
  const whileReplayed = new Map<number, unknown>()
  while (!isResumed) {
    try {
      const number = await rpc.request('eth_blockNumber', [], Quantity)
      whileReplayed.set(number, await depthsAt(number))
    } catch {
      // Before the node listens, and while a block that it had announced is not there yet.
    }
  }
  chain = await resumed
  expect(whileReplayed.size).toBeGreaterThan(FEWEST_READS)
  for (const [number, depths] of whileReplayed) expect(depths, `block ${number}`).toEqual(await depthsAt(number))
})
