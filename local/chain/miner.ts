import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { type Head, readHead, toHead } from './head.js'
import type { Journal, JournalBlock } from './journal.js'
import { rawTransactions } from './raw-transactions.js'
import type { Rpc, RpcCall } from './rpc.js'
import type { SignedIntent } from './wallet.js'

/** A transaction of the market was dropped, reverted or reordered, so the plan no longer describes the chain. */
class MarketError extends PlumblineError {}

const Receipts = z.array(z.object({ transactionHash: z.string(), status: z.string() }))

type NextBlock = { number: number; timestamp: number; intents: readonly SignedIntent[] }

export type Miner = {
  /**
   * Mines a block of these transactions, in this order, and of those that others have sent to the node. Their success
   * is checked together with the next block, or by `check`. `sync`: the journal is on disk before the block is mined.
   * `meanwhile` is called while the node is mining.
   */
  mine: (block: NextBlock, options: { sync: boolean; meanwhile?: () => void }) => Promise<void>
  /** Checks the newest block and returns its header. */
  check: () => Promise<Head>
}

/**
 * Mines on the node, and writes every block to the journal before mining it. Takes two requests per block: the node
 * runs the calls of a batch concurrently, so it could mine before it has the transactions.
 */
export function createMiner(rpc: Rpc, journal: Journal, startsAt: Head): Miner {
  let head = startsAt
  let unchecked: { block: NextBlock; hashes: string[] } | null = null

  const checkCalls = (): RpcCall[] => {
    if (!unchecked) return []
    const number = numberToHex(unchecked.block.number)
    return [
      ['eth_getBlockByNumber', [number, false]],
      ['eth_getBlockReceipts', [number]],
    ]
  }
  const settle = async (answers: unknown[]): Promise<void> => {
    if (!unchecked) return
    const { block, hashes } = unchecked
    const mined = Receipts.parse(answers[1])
    assertMinedInOrder(block, hashes, mined)
    if (mined.length > hashes.length) await recordOthers(block, hashes, mined)
    head = toHead(answers[0])
    unchecked = null
  }
  /** The transactions of others are known only now. If the machine dies before this, the next start lacks them. */
  const recordOthers = async (block: NextBlock, hashes: string[], mined: z.infer<typeof Receipts>): Promise<void> => {
    const all = mined.map(({ transactionHash }) => transactionHash)
    const known = new Map(block.intents.map(({ raw }, i) => [hashes[i], raw]))
    const others = all.filter((hash) => !known.has(hash))
    for (const [i, raw] of (await rawTransactions(rpc, others)).entries()) known.set(others[i], raw)
    const raws = all.map((hash) => known.get(hash) as Hex)
    const line = { number: block.number, timestamp: block.timestamp, parent: head.hash, raws, hasOthers: true }
    await journal.append(line, { sync: true })
  }

  return {
    mine: async (block, { sync, meanwhile }) => {
      const checks = checkCalls()
      const answers = await rpc.batch([...checks, ...submitCalls(block.timestamp, block.intents)])
      await settle(answers)
      const raws = block.intents.map(({ raw }) => raw)
      await journal.append({ number: block.number, timestamp: block.timestamp, parent: head.hash, raws }, { sync })
      // The request is sent in the next turn of the event loop.
      await Promise.all([rpc.call('evm_mine'), meanwhile && nextTurn().then(meanwhile)])
      unchecked = { block, hashes: z.array(z.string()).parse(answers.slice(checks.length + 1)) }
    },
    check: async () => {
      await settle(await rpc.batch(checkCalls()))
      return head
    },
  }
}

/**
 * Mines the blocks of a journal again, in order, and returns the head. Their transactions were checked when they were
 * first mined; the caller compares the hashes to see that the blocks are the same. Throws when the signal aborts.
 */
export async function replayBlocks(
  rpc: Rpc,
  blocks: readonly JournalBlock[],
  onBlock: (done: number) => void,
  signal: AbortSignal,
): Promise<Head> {
  for (const [i, { timestamp, raws, hasOthers }] of blocks.entries()) {
    signal.throwIfAborted()
    const calls = submitCalls(
      timestamp,
      raws.map((raw) => ({ raw })),
    )
    // Among transactions of the same price, the node orders by arrival.
    if (hasOthers) for (const call of calls) await rpc.batch([call])
    else await rpc.batch(calls)
    await rpc.call('evm_mine')
    onBlock(i + 1)
  }
  return readHead(rpc)
}

const submitCalls = (timestamp: number, intents: readonly Pick<SignedIntent, 'raw'>[]): RpcCall[] => [
  ['evm_setNextBlockTimestamp', [timestamp]],
  ...intents.map(({ raw }): RpcCall => ['eth_sendRawTransaction', [raw]]),
]

function assertMinedInOrder(block: NextBlock, hashes: string[], receipts: z.infer<typeof Receipts>): void {
  for (const [i, { label }] of block.intents.entries()) {
    const receipt = receipts.find((r) => r.transactionHash === hashes[i])
    const problem = !receipt ? 'was dropped by the node' : receipt.status !== '0x1' ? 'reverted' : null
    if (problem)
      throw new MarketError(`block ${block.number}: "${label}" ${problem} (${hashes[i]})`, { retryable: false })
  }
  const own = new Set(hashes)
  const inOrder = receipts.map(({ transactionHash }) => transactionHash).filter((hash) => own.has(hash))
  if (inOrder.some((hash, i) => hash !== hashes[i])) {
    throw new MarketError(`block ${block.number} does not contain the market's transactions in order`, {
      retryable: false,
    })
  }
}
