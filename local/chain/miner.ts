import { type Address, type Hex, numberToHex, type RpcLog } from 'viem'
import { z } from 'zod'
import { DevnetError } from './errors.js'
import { type Head, readHead, toHead } from './head.js'
import type { Intent } from './intent.js'
import type { Journal, JournalBlock } from './journal.js'
import { rawTransactions } from './raw-transactions.js'
import { readNonces } from './resume.js'
import type { Rpc, RpcAnswer, RpcCall } from './rpc.js'
import type { SignedIntent, Wallet } from './wallet.js'

/** The node refuses the time that the market gives it, or a transaction that it mined before. */
export class MinerError extends DevnetError {}

const Receipt = z.object({
  transactionHash: z.string(),
  status: z.string(),
  logs: z.array(z.custom<RpcLog>((log) => typeof log === 'object' && log !== null && 'topics' in log)),
})
type Receipt = z.infer<typeof Receipt>

type NextBlock = { number: number; timestamp: number; intents: readonly Intent[] }

/** A transaction of the market that is not in its block, or reverted there (`isMined`). */
export type FailedIntent = { intent: Intent; problem: string; isMined: boolean }

/** A transaction of the market, and the node's answer to it. */
type Sent = { signed: SignedIntent; answer: RpcAnswer | undefined }

type MinedBlock = {
  head: Head
  /** Of all transactions that succeeded, in order. */
  logs: RpcLog[]
  /** Empty unless others use the accounts or the orders of the market. */
  failed: FailedIntent[]
  /** The block's line if it has a transaction whose signed bytes are unknown, so that it cannot be mined again. */
  unrepeatable: JournalBlock | null
}

export type Miner = {
  /**
   * Mines a block of these transactions, in this order, and of those that others have sent to the node. Where others
   * have taken a nonce, the market's transaction gets the next one. `sync`: the journal is on disk before the block is
   * mined.
   */
  mine: (block: NextBlock, options: { sync: boolean }) => Promise<MinedBlock>
}

/**
 * Mines on the node, and writes every block to the journal before mining it. Sends the transactions and mines in two
 * requests: the node runs the calls of a batch concurrently, so it could mine before it has the transactions.
 */
export function createMiner(
  { rpc, journal, wallet, nonces }: { rpc: Rpc; journal: Journal; wallet: Wallet; nonces: Map<Address, number> },
  startsAt: Head,
): Miner {
  let parent = startsAt

  const setNonces = (read: ReadonlyMap<Address, number>): void => {
    for (const [account, nonce] of read) nonces.set(account, nonce)
  }

  /** Sends once more what the node refused, with nonces that follow all that it has accepted from anybody. */
  const sendRefused = async (sent: readonly Sent[]): Promise<Sent[]> => {
    const refused = sent.filter(({ answer }) => !isAccepted(answer))
    if (refused.length === 0) return [...sent]
    setNonces(await readNonces(rpc, 'pending'))
    const again = await wallet.resign(refused.map(({ signed }) => signed))
    const answers = await rpc.attempt(again.map(({ raw }) => sendCall(raw)))
    const byIntent = new Map(again.map((signed, i) => [signed.intent, { signed, answer: answers[i] }]))
    return sent.map((one) => byIntent.get(one.signed.intent) ?? one)
  }

  /**
   * The transactions of others are known only after the block. If the machine dies before this, the next start lacks
   * them. Returns whether all bytes are known; if not, writes nothing.
   */
  const recordMined = async (
    line: JournalBlock,
    known: Map<string, Hex>,
    mined: readonly string[],
  ): Promise<boolean> => {
    const others = mined.filter((hash) => !known.has(hash))
    const found = await rawTransactions(rpc, others)
    if (found === null) return false
    const all = new Map([...known, ...others.map((hash, i) => [hash, found[i] as Hex] as const)])
    const raws = mined.map((hash) => all.get(hash) as Hex)
    await journal.append({ ...line, raws, hasOthers: true }, { sync: true })
    return true
  }

  return {
    mine: async ({ number, timestamp, intents }, { sync }) => {
      const signed = await wallet.sign(intents)
      const [timed, ...answers] = await rpc.attempt(submitCalls(timestamp, signed))
      if (!timed || 'error' in timed) throw new MinerError(`block ${number}: ${timed?.error}`, { retryable: false })
      const sent = await sendRefused(signed.map((one, i) => ({ signed: one, answer: answers[i] })))
      const accepted = new Map(
        sent.flatMap(({ signed: { raw }, answer }) => acceptedAs(answer).map((hash) => [hash, raw])),
      )
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
      const isAsSent = hashes.join() === [...accepted.keys()].join()
      const isRecorded = isAsSent || (await recordMined(line, accepted, hashes))
      // A transaction that waits for an earlier nonce would be mined much later, when its orders are gone.
      await rpc.attempt(left.map((hash) => ['anvil_dropTransaction', [hash]]))
      const failed = sent.flatMap((one) => failureOf(one, mined))
      if (failed.length > 0 || !isAsSent) setNonces(await readNonces(rpc))
      parent = toHead(header)
      return { head: parent, logs: mined.flatMap(({ logs }) => logs), failed, unrepeatable: isRecorded ? null : line }
    },
  }
}

/** The hash of a transaction that the node accepted, or nothing. */
const acceptedAs = (answer: RpcAnswer | undefined): string[] =>
  answer && 'result' in answer ? [z.string().parse(answer.result)] : []

const isAccepted = (answer: RpcAnswer | undefined): boolean => answer !== undefined && 'result' in answer

function failureOf({ signed: { intent }, answer }: Sent, mined: readonly Receipt[]): FailedIntent[] {
  const isMined = false
  if (answer && 'error' in answer) return [{ intent, isMined, problem: `was refused by the node: ${answer.error}` }]
  const receipt = mined.find(({ transactionHash }) => acceptedAs(answer).includes(transactionHash))
  if (!receipt) return [{ intent, isMined, problem: 'was dropped by the node' }]
  return receipt.status === '0x1' ? [] : [{ intent, isMined: true, problem: `reverted (${receipt.transactionHash})` }]
}

/**
 * Mines the blocks of a journal again, in order, and returns the head. The caller compares the hashes to see that the
 * blocks are the same. Throws MinerError if the node refuses one of the transactions, and when the signal aborts.
 */
export async function replayBlocks(
  rpc: Rpc,
  blocks: readonly JournalBlock[],
  onBlock: (done: number) => void,
  signal: AbortSignal,
): Promise<Head> {
  for (const [i, { number, timestamp, raws, hasOthers }] of blocks.entries()) {
    signal.throwIfAborted()
    const calls = submitCalls(
      timestamp,
      raws.map((raw) => ({ raw })),
    )
    // Among transactions of the same price, the node orders by arrival.
    const answers = hasOthers ? await inTurn(rpc, calls) : await rpc.attempt(calls)
    const refused = answers.find((answer) => 'error' in answer)
    if (refused && 'error' in refused) throw new MinerError(`block ${number}: ${refused.error}`, { retryable: false })
    await rpc.call('evm_mine')
    onBlock(i + 1)
  }
  return readHead(rpc)
}

async function inTurn(rpc: Rpc, calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
  const answers: RpcAnswer[] = []
  for (const call of calls) answers.push(...(await rpc.attempt([call])))
  return answers
}

const submitCalls = (timestamp: number, intents: readonly Pick<SignedIntent, 'raw'>[]): RpcCall[] => [
  ['evm_setNextBlockTimestamp', [timestamp]],
  ...intents.map(({ raw }) => sendCall(raw)),
]

const sendCall = (raw: Hex): RpcCall => ['eth_sendRawTransaction', [raw]]
