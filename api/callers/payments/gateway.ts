import { randomUUID } from 'node:crypto'
import { type Challenge, Errors, Method, type Receipt } from 'mppx'
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
import { getBlock, getChainId, getTransactionReceipt } from 'viem/actions'
import { Abis } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import type { Proof } from './proof.js'
import { CURRENCY_DECIMALS, type Offer, type PaymentTerms } from './terms.js'

/** Longer than blocks take, shorter than a client waits. */
const RPC_TIMEOUT_MS = 10_000
const CHALLENGE_MS = 5 * 60_000
/**
 * How long after its challenge has expired a payment that was made in time is taken. A day: outages of the service and of
 * its node are over by then, and a node that keeps no more than it has to still has the receipt.
 */
const LATE_FOR_MS = 24 * 60 * 60_000
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
  /**
   * Checks a credential against the offer and the chain, and makes the payment. An expired challenge is good for what the
   * payer himself has sent in time: that money has moved. Rejects with what mppx or viem throw.
   */
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

  const chargeWith = (store: Store.AtomicStore) =>
    tempo.charge({ recipient, currency, getClient: () => client, store, sponsorBudget, ...sponsor })
  const mppxWith = (store: Store.AtomicStore) =>
    Mppx.create({ realm, secretKey: challengeSecret, methods: [chargeWith(store)] })
  const offers = mppxWith(Store.memory())

  const challenge = ({ price, scope, description }: Offer): Promise<Challenge.Challenge> =>
    offers.challenge.tempo.charge({
      amount: price,
      scope,
      description,
      meta: { nonce: randomUUID() },
      expires: new Date(Date.now() + challengeMs),
    })

  /** When a transaction was mined, in milliseconds; null where its time has passed and it is in no block. */
  async function minedAt(hash: Hex, expiresMs: number): Promise<number | null> {
    try {
      const { blockHash } = await getTransactionReceipt(client, { hash })
      return Number((await getBlock(client, { blockHash })).timestamp) * 1000
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
      // A node that was away has to catch up before it knows.
      if (Number((await getBlock(client)).timestamp) * 1000 <= expiresMs) throw error
      return null
    }
  }

  /** Whether the chain has the transaction that a payer has sent himself, in a block from before his challenge expired. */
  async function isPushedInTime({ mode, txHash, credential }: Proof): Promise<boolean> {
    const expiresMs = Date.parse(credential.challenge.expires ?? '')
    if (mode !== 'push' || !(Date.now() - expiresMs <= LATE_FOR_MS)) return false
    const minedMs = await minedAt(txHash, expiresMs)
    return minedMs !== null && minedMs <= expiresMs
  }

  return {
    chainId,
    challenge,
    pay: async (proof, offer, { accept, release }) => {
      // mppx records in its store what it has used, right before it broadcasts: there a payment is claimed.
      const store = {
        ...Store.memory(),
        tryClaim: (key: string) => accept(key.slice(HASH_KEY.length)),
        delete: async () => release(),
      }
      const route = { scope: offer.scope, meta: { nonce: proof.nonce }, realm, request: { amount: offer.price } }
      try {
        return await mppxWith(store).broadcastCredential(proof.credential, route)
      } catch (expired) {
        if (!(expired instanceof Errors.PaymentExpiredError) || !(await isPushedInTime(proof))) throw expired
        // mppx checks all the rest: what is asked for now, under the id that the memo of the transfer is bound to.
        const expires = new Date(Date.now() + CHALLENGE_MS).toISOString()
        const renewed = { ...(await challenge(offer)), id: proof.challengeId, expires }
        return Method.broadcastCredential([chargeWith(store)], { ...proof.credential, challenge: renewed }).catch(
          (error) => {
            throw error instanceof Errors.PaymentError ? expired : error
          },
        )
      }
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
export function createGatewayFinder(terms: PaymentTerms, readChainId: () => Promise<number | null>) {
  let gateway: Gateway | undefined
  return async (): Promise<Gateway | null> => {
    if (gateway) return gateway
    const chainId = await readChainId()
    if (chainId === null) return null
    gateway ??= createGateway(terms, chainId)
    return gateway
  }
}
