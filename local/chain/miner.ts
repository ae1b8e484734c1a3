import { type Hex, numberToHex, type RpcLog } from 'viem'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { type Head, readHead, toHead } from './head.js'
import type { Journal, JournalBlock } from './journal.js'
import { rawTransactions } from './raw-transactions.js'
import type { Rpc, RpcAnswer, RpcCall } from './rpc.js'
import type { SignedIntent } from './wallet.js'

/** The node does not mine with the time that the market gives it. */
class MinerError extends PlumblineError {}

const Receipt = z.object({
  transactionHash: z.string(),
  status: z.string(),
  logs: z.array(z.custom<RpcLog>((log) => typeof log === 'object' && log !== null && 'topics' in log)),
})
type Receipt = z.infer<typeof Receipt>

type NextBlock = { number: number; timestamp: number; intents: readonly SignedIntent[] }

/** A transaction of the market that is not in its block, or reverted there. */
export type FailedIntent = { label: string; problem: string }

type MinedBlock = {
  head: Head
  /** Of all transactions that succeeded, in order. */
  logs: RpcLog[]
  /** Empty unless others use the accounts or the orders of the market. */
  failed: FailedIntent[]
  hasOthers: boolean
}

export type Miner = {
  /**
   * Mines a block of these transactions, in this order, and of those that others have sent to the node. `sync`: the
   * journal is on disk before the block is mined.
   */
  mine: (block: NextBlock, options: { sync: boolean }) => Promise<MinedBlock>
}

/**
 * Mines on the node, and writes every block to the journal before mining it. Sends the transactions and mines in two
 * requests: the node runs the calls of a batch concurrently, so it could mine before it has the transactions.
 */
export function createMiner(rpc: Rpc, journal: Journal, startsAt: Head): Miner {
  let parent = startsAt

  /**
   * The transactions of others are known only after the block. If the machine dies before this, the next start lacks
   * them.
   */
  const recordMined = async (line: JournalBlock, known: Map<string, Hex>, mined: readonly string[]): Promise<void> => {
    const others = mined.filter((hash) => !known.has(hash))
    const found = await rawTransactions(rpc, others)
    const all = new Map([...known, ...others.map((hash, i) => [hash, found[i] as Hex] as const)])
    const raws = mined.map((hash) => all.get(hash) as Hex)
    await journal.append({ ...line, raws, hasOthers: true }, { sync: true })
  }

  return {
    mine: async ({ number, timestamp, intents }, { sync }) => {
      const [timed, ...answers] = await rpc.attempt(submitCalls(timestamp, intents))
      if (!timed || 'error' in timed) throw new MinerError(`block ${number}: ${timed?.error}`, { retryable: false })
      const accepted = new Map(intents.flatMap(({ raw }, i) => acceptedAs(answers[i]).map((hash) => [hash, raw])))
      const line = { number, timestamp, parent: parent.hash, raws: [...accepted.values()] }
      await journal.append(line, { sync })
      await rpc.call('evm_mine')
      const [header, receipts] = await rpc.batch([
        ['eth_getBlockByNumber', [numberToHex(number), false]],
        ['eth_getBlockReceipts', [numberToHex(number)]],
      ])
      const mined = z.array(Receipt).parse(receipts)
      const hashes = mined.map(({ transactionHash }) => transactionHash)
      const left = [...accepted.keys()].filter((hash) => !hashes.includes(hash))
      if (hashes.join() !== [...accepted.keys()].join()) await recordMined(line, accepted, hashes)
      // A transaction that waits for an earlier nonce would be mined much later, when its orders are gone.
      await rpc.attempt(left.map((hash) => ['anvil_dropTransaction', [hash]]))
      parent = toHead(header)
      return {
        head: parent,
        logs: mined.flatMap(({ logs }) => logs),
        failed: intents.flatMap(({ label }, i) => failureOf(label, answers[i], mined)),
        hasOthers: hashes.some((hash) => !accepted.has(hash)),
      }
    },
  }
}

/** The hash of a transaction that the node accepted, or nothing. */
const acceptedAs = (answer: RpcAnswer | undefined): string[] =>
  answer && 'result' in answer ? [z.string().parse(answer.result)] : []

function failureOf(label: string, answer: RpcAnswer | undefined, mined: readonly Receipt[]): FailedIntent[] {
  if (answer && 'error' in answer) return [{ label, problem: `was refused by the node: ${answer.error}` }]
  const receipt = mined.find(({ transactionHash }) => acceptedAs(answer).includes(transactionHash))
  if (!receipt) return [{ label, problem: 'was dropped by the node' }]
  return receipt.status === '0x1' ? [] : [{ label, problem: `reverted (${receipt.transactionHash})` }]
}

/**
 * Mines the blocks of a journal again, in order, and returns the head. The caller compares the hashes to see that the
 * blocks are the same. Throws when the signal aborts.
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
