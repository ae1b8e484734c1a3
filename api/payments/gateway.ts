import { randomUUID } from 'node:crypto'
import type { Challenge, Receipt } from 'mppx'
import { Mppx, Store, tempo } from 'mppx/server'
import {
  createClient,
  defineChain,
  type Hex,
  http,
  isAddressEqual,
  parseEventLogs,
  parseUnits,
  TransactionReceiptNotFoundError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getChainId, getTransactionReceipt } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import type { Proof } from './proof.js'
import { CURRENCY_DECIMALS, type Offer, type PaymentTerms } from './terms.js'

/** Longer than blocks take, shorter than a client waits. */
const RPC_TIMEOUT_MS = 10_000
const CHALLENGE_MS = 5 * 60_000
/** What mppx puts before the hash of a transaction in the keys of its store. */
const HASH_KEY = 'mppx:charge:'

/** What is told of a payment while it is made. */
type Progress = {
  /** Before anything moves, and again where a fee payer's signature makes another hash; false stops it. */
  accept: (txHash: string) => Promise<boolean>
  /** It was stopped after that, and before anything moved. */
  release: () => void
}

/** What has become of a transaction: null while it is in no block. */
type Outcome = 'paid' | 'failed' | null

export type Gateway = {
  chainId: number
  /** A challenge of its own for each who asks. */
  challenge: (offer: Offer) => Promise<Challenge.Challenge>
  /** Checks a credential against the offer and the chain, and makes the payment. Rejects with what mppx or viem throw. */
  pay: (proof: Proof, offer: Offer, progress: Progress) => Promise<Receipt.Receipt>
  outcome: (txHash: string, offer: Offer) => Promise<Outcome>
  /** The chain that the node is on. */
  nodeChainId: () => Promise<number>
}

/** The one part that talks with mppx and with the chain. Nothing is asked of a node before the first payment. */
export function createGateway(terms: PaymentTerms, chainId: number): Gateway {
  const { recipient, currency, realm, challengeSecret, challengeMs = CHALLENGE_MS } = terms
  const chain = defineChain({ ...tempoModerato, id: chainId })
  // A repeated broadcast would be told that the transaction is known: whoever presents the credential again decides that.
  const client = createClient({ chain, transport: http(terms.rpcUrl, { retryCount: 0, timeout: RPC_TIMEOUT_MS }) })
  const sponsor = terms.feePayerKey && { account: privateKeyToAccount(terms.feePayerKey), feePayer: true as const }
  const sponsorBudget = { store: Store.memory() }

  /** mppx records in its store what it has used, right before it broadcasts: there a payment is claimed. */
  const mppxWith = (store: Store.AtomicStore) =>
    Mppx.create({
      realm,
      secretKey: challengeSecret,
      methods: [tempo.charge({ recipient, currency, getClient: () => client, store, sponsorBudget, ...sponsor })],
    })
  const offers = mppxWith(Store.memory())

  return {
    chainId,
    challenge: ({ price, scope, description }) =>
      offers.challenge.tempo.charge({
        amount: price,
        scope,
        description,
        meta: { nonce: randomUUID() },
        expires: new Date(Date.now() + challengeMs),
      }),
    pay: (proof, { price, scope }, { accept, release }) => {
      const store = {
        ...Store.memory(),
        tryClaim: (key: string) => accept(key.slice(HASH_KEY.length)),
        delete: async () => release(),
      }
      const route = { scope, meta: { nonce: proof.nonce }, realm, request: { amount: price } }
      return mppxWith(store).broadcastCredential(proof.credential, route)
    },
    outcome: async (hash, { price }) => {
      const receipt = await getTransactionReceipt(client, { hash: hash as Hex }).catch((error: unknown) => {
        if (error instanceof TransactionReceiptNotFoundError) return null
        throw error
      })
      if (!receipt) return null
      const amount = parseUnits(price, CURRENCY_DECIMALS)
      const transfers = parseEventLogs({ abi: Abis.tip20, eventName: 'Transfer', logs: receipt.logs })
      const isPaid = transfers.some(
        ({ address, args }) =>
          isAddressEqual(address, currency) && isAddressEqual(args.to, recipient) && args.amount === amount,
      )
      return receipt.status === 'success' && isPaid ? 'paid' : 'failed'
    },
    nodeChainId: () => getChainId(client),
  }
}

/**
 * The gateway to the chain that the database is about, once `readChainId` knows it. Resolves to null until then.
 */
export function createGatewayFinder(terms: PaymentTerms, readChainId: () => Promise<number | undefined>) {
  let gateway: Gateway | undefined
  return async (): Promise<Gateway | null> => {
    if (gateway) return gateway
    const chainId = await readChainId()
    if (chainId === undefined) return null
    gateway ??= createGateway(terms, chainId)
    return gateway
  }
}
