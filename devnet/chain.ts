import { numberToHex } from 'viem'
import { z } from 'zod'
import { PlumblineError } from '../domain/errors.js'
import type { JournalBlock } from './journal.js'
import type { Rpc } from './rpc.js'
import type { SignedIntent } from './wallet.js'

/** A transaction of the market was dropped, reverted or reordered: the plan no longer describes the chain. */
export class MarketError extends PlumblineError {}

const Head = z.object({ hash: z.string(), number: z.string(), timestamp: z.string() })
const Receipts = z.array(z.object({ transactionHash: z.string(), status: z.string() }))

export type Head = { number: number; hash: string; timestamp: number }

/** The node's newest block. `timestamp` in seconds. */
export async function readHead(rpc: Rpc): Promise<Head> {
  return toHead(await rpc.call('eth_getBlockByNumber', ['latest', false]))
}

/** The block with that number. */
export async function readBlock(rpc: Rpc, number: number): Promise<Head> {
  return toHead(await rpc.call('eth_getBlockByNumber', [numberToHex(number), false]))
}

/**
 * Mines one block of exactly these transactions, in this order, and gives its header. Two requests, since the node runs
 * the calls of one batch side by side and would mine before it has the transactions. `beforeMining` runs in between: when
 * it fails, the block does not come to be.
 */
export async function mineBlock(
  rpc: Rpc,
  block: { number: number; timestamp: number; intents: readonly SignedIntent[] },
  beforeMining: () => Promise<void>,
): Promise<Head> {
  const hashes = await submit(rpc, block.timestamp, block.intents)
  await beforeMining()
  await rpc.call('evm_mine')
  const number = numberToHex(block.number)
  const [header, found] = await rpc.batch([
    ['eth_getBlockByNumber', [number, false]],
    ['eth_getBlockReceipts', [number]],
  ])
  const receipts = Receipts.parse(found)
  block.intents.forEach(({ label }, i) => {
    const receipt = receipts.find((r) => r.transactionHash === hashes[i])
    const fate = !receipt ? 'was dropped' : receipt.status !== '0x1' ? 'reverted' : null
    if (fate) throw new MarketError(`block ${block.number}: "${label}" ${fate} (${hashes[i]})`, { retryable: false })
  })
  if (receipts.some((r, i) => r.transactionHash !== hashes[i]) || receipts.length !== hashes.length) {
    throw new MarketError(`block ${block.number} does not hold the market's transactions in order`, {
      retryable: false,
    })
  }
  return toHead(header)
}

/** Mines a block again from the journal. What it held was checked when it was first mined. */
export async function replayBlock(rpc: Rpc, { timestamp, raws }: JournalBlock): Promise<void> {
  await submit(
    rpc,
    timestamp,
    raws.map((raw) => ({ label: 'replay', raw })),
  )
  await rpc.call('evm_mine')
}

async function submit(rpc: Rpc, timestamp: number, intents: readonly SignedIntent[]): Promise<string[]> {
  const [, ...hashes] = await rpc.batch([
    ['evm_setNextBlockTimestamp', [timestamp]],
    ...intents.map(({ raw }) => ['eth_sendRawTransaction', [raw]] as const),
  ])
  return z.array(z.string()).parse(hashes)
}

function toHead(header: unknown): Head {
  const { hash, number, timestamp } = Head.parse(header)
  return { hash, number: Number(number), timestamp: Number(timestamp) }
}
