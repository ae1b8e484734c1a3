import { type Hex, keccak256 } from 'viem'
import { Transaction } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import type { Rpc, RpcCall } from './rpc.js'

/** The bytes of a mined transaction are unknown, so its block could not be mined again. */
class UnknownBytesError extends PlumblineError {}

/** Tempo's transaction type. anvil 1.7.1 crashes when it is asked for the bytes of one. */
const TEMPO_TYPE = '0x76'
const Mined = z.looseObject({ hash: z.string(), type: z.string() })
const Raw = z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'))

/**
 * The signed bytes of mined transactions, in the order of `hashes`: from the node, or serialized from the fields that
 * the node returns. Throws if the bytes do not match the hash.
 */
export async function rawTransactions(rpc: Rpc, hashes: readonly string[]): Promise<Hex[]> {
  const answers = await rpc.batch(hashes.map((hash): RpcCall => ['eth_getTransactionByHash', [hash]]))
  const raws: Hex[] = []
  for (const mined of z.array(Mined).parse(answers)) {
    const raw =
      mined.type === TEMPO_TYPE
        ? await serialized(mined)
        : Raw.parse(await rpc.call('eth_getRawTransactionByHash', [mined.hash]))
    if (keccak256(raw) !== mined.hash) {
      throw new UnknownBytesError(`cannot reproduce the bytes of transaction ${mined.hash} (type ${mined.type})`, {
        retryable: false,
      })
    }
    raws.push(raw)
  }
  return raws
}

async function serialized(mined: z.infer<typeof Mined>): Promise<Hex> {
  const transaction = tempoModerato.formatters.transaction.format(mined as never)
  return Transaction.serialize(transaction as never, transaction.signature as never)
}
