import { type Hex, keccak256 } from 'viem'
import { Transaction } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import { z } from 'zod'
import type { Rpc, RpcCall } from './rpc.js'

/** Tempo's transaction type. anvil 1.7.1 crashes when it is asked for the bytes of one. */
const TEMPO_TYPE = '0x76'
/** Types of which the node returns all bytes. */
const PLAIN_TYPES = ['0x0', '0x1', '0x2', '0x4']
const Mined = z.looseObject({ hash: z.string(), type: z.string() })
const Raw = z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'))

/**
 * The signed bytes of mined transactions, in the order of `hashes`: from the node, or serialized from the fields that
 * the node returns. Null if the bytes of any of them are unknown, as those of a transaction that the node signed for an
 * account that somebody impersonates.
 */
export async function rawTransactions(rpc: Rpc, hashes: readonly string[]): Promise<Hex[] | null> {
  const answers = await rpc.batch(hashes.map((hash): RpcCall => ['eth_getTransactionByHash', [hash]]))
  const raws: Hex[] = []
  for (const mined of z.array(Mined).parse(answers)) {
    const raw = mined.type === TEMPO_TYPE ? await serialized(mined) : await fromNode(rpc, mined)
    if (raw === null || keccak256(raw) !== mined.hash) return null
    raws.push(raw)
  }
  return raws
}

async function fromNode(rpc: Rpc, { hash, type }: z.infer<typeof Mined>): Promise<Hex | null> {
  if (!PLAIN_TYPES.includes(type)) return null
  const [answer] = await rpc.attempt([['eth_getRawTransactionByHash', [hash]]])
  return answer && 'result' in answer ? Raw.parse(answer.result) : null
}

/** Null for a transaction with a kind of signature or field that the library does not know. */
async function serialized(mined: z.infer<typeof Mined>): Promise<Hex | null> {
  try {
    const transaction = tempoModerato.formatters.transaction.format(mined as never)
    return await Transaction.serialize(transaction as never, transaction.signature as never)
  } catch {
    return null
  }
}
