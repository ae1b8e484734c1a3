import { numberToHex } from 'viem'
import { z } from 'zod'
import type { Rpc } from './rpc.js'

const Header = z.object({ hash: z.string(), number: z.string(), timestamp: z.string() })

/** The fields of a block's header that the devnet uses. `timestamp` is in seconds. */
export type Head = { number: number; hash: string; timestamp: number }

/** The node's newest block. */
export async function readHead(rpc: Rpc): Promise<Head> {
  return toHead(await rpc.call('eth_getBlockByNumber', ['latest', false]))
}

/** The block with this number, or null if the node has none. */
export async function readBlock(rpc: Rpc, number: number): Promise<Head | null> {
  const header = await rpc.call('eth_getBlockByNumber', [numberToHex(number), false])
  return header === null ? null : toHead(header)
}

/** Parses a header from the node's answer. */
export function toHead(header: unknown): Head {
  const { hash, number, timestamp } = Header.parse(header)
  return { hash, number: Number(number), timestamp: Number(timestamp) }
}
