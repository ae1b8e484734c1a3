import { numberToHex } from 'viem'
import { z } from 'zod'
import type { Rpc } from './rpc.js'

const Header = z.object({ hash: z.string(), number: z.string(), timestamp: z.string() })

/** What the devnet needs of a block's header. `timestamp` in seconds. */
export type Head = { number: number; hash: string; timestamp: number }

/** The node's newest block. */
export async function readHead(rpc: Rpc): Promise<Head> {
  return toHead(await rpc.call('eth_getBlockByNumber', ['latest', false]))
}

/** The block with that number, or null where the node has none. */
export async function readBlock(rpc: Rpc, number: number): Promise<Head | null> {
  const header = await rpc.call('eth_getBlockByNumber', [numberToHex(number), false])
  return header === null ? null : toHead(header)
}

/** A header as the node answers it. */
export function toHead(header: unknown): Head {
  const { hash, number, timestamp } = Header.parse(header)
  return { hash, number: Number(number), timestamp: Number(timestamp) }
}
