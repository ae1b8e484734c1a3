import type { Address, Hex } from 'viem'
import { Transaction } from 'viem/tempo'
import type { Account } from './accounts.js'
import type { Intent } from './intent.js'

/** A signed transaction. `rank` is its place among those that were signed with it. */
export type SignedIntent = { intent: Intent; label: string; raw: Hex; rank: number }

/** Wei per gas: Tempo's price until hardfork T7. anvil's base fee starts at this value and only falls. */
const GAS_PRICE = 20_000_000_000n
/** Gas limit of one call. Each new storage slot costs 250 000, and an order takes seven. */
const GAS_PER_CALL = 3_000_000n

export type Wallet = {
  sign: (intents: readonly Intent[]) => Promise<SignedIntent[]>
  /** Signs the same again with the next nonces; each keeps its rank. */
  resign: (signed: readonly SignedIntent[]) => Promise<SignedIntent[]>
}

/** Signs for the market's accounts. Nonces are counted locally, starting from `nonces` (0 if absent). */
export function createWallet(chainId: number, nonces: Map<Address, number>): Wallet {
  const signOne = async (intent: Intent, rank: number): Promise<SignedIntent> => {
    const { from, calls, label } = intent
    const nonce = nonces.get(from.address) ?? 0
    nonces.set(from.address, nonce + 1)
    // The node orders transactions by price, so each one offers a wei less than the one before it.
    const price = GAS_PRICE + BigInt(1000 - rank)
    const common = {
      chainId,
      nonce,
      gas: GAS_PER_CALL * BigInt(calls.length),
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
    }
    const [only] = calls
    if (calls.length === 1 && only)
      return { intent, label, rank, raw: await signPlain(from, { ...common, type: 'eip1559', ...only }) }
    const raw = await from.signTransaction({ ...common, type: 'tempo', calls } as never, {
      serializer: Transaction.serialize as never,
    })
    return { intent, label, rank, raw }
  }
  const signAll = async (wanted: readonly { intent: Intent; rank: number }[]): Promise<SignedIntent[]> => {
    const signed: SignedIntent[] = []
    for (const { intent, rank } of wanted) signed.push(await signOne(intent, rank))
    return signed
  }
  return { sign: (intents) => signAll(intents.map((intent, rank) => ({ intent, rank }))), resign: signAll }
}

const signPlain = (from: Account, transaction: Parameters<Account['signTransaction']>[0]): Promise<Hex> =>
  from.signTransaction(transaction)
