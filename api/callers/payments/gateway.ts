import { randomUUID } from 'node:crypto'
import { type Challenge, Errors, Method, type Receipt } from 'mppx'
import { Mppx, Store, tempo } from 'mppx/server'
import {
  type Address,
  type Client,
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
import { currenciesOn } from '../../../clickhouse/payments/currencies.js'
import { createFunds, type Funds } from './funds.js'
import type { Proof } from './proof.js'
import { CURRENCY_DECIMALS, type Offer, type PaymentTerms } from './terms.js'

/** Longer than a block takes, shorter than a client waits. */
const RPC_TIMEOUT_MS = 10_000
const CHALLENGE_MS = 5 * 60_000
/**
 * How long after its challenge has expired a payment that was made in time is still accepted. A day: outages of the
 * service and of its node are over by then, and even a node that keeps only the required history still has the receipt.
 */
export const LATE_FOR_MS = 24 * 60 * 60_000
/** The prefix that mppx puts before transaction hashes in the keys of its store. */
const HASH_KEY = 'mppx:charge:'

/** Callbacks while a payment is made. */
type Progress = {
  /** Called before anything moves, and again if a fee payer's signature changes the hash; false stops the payment. */
  accept: (txHash: string) => Promise<boolean>
  /** Called if the payment is stopped after that, before anything moved. */
  release: () => void
}

/** The result of a transaction: null while it is in no block. */
type Outcome = 'paid' | 'failed' | null

export type Gateway = {
  chainId: number
  /** The tokens that payments are made in, preferred first; lower case. */
  currencies: readonly Address[]
  /** New challenges for a request, one in each currency. */
  challenges: (offer: Offer) => Promise<Challenge.Challenge[]>
  /**
   * Checks a credential against the offer and the chain, and makes the payment in the currency of its challenge. An expired challenge is still valid for
   * a transaction that the payer sent in time, because that money has moved. Rejects with the errors of mppx or viem.
   */
  pay: (proof: Proof, offer: Offer, progress: Progress) => Promise<Receipt.Receipt>
  outcome: (txHash: string, offer: Offer, currency: Address) => Promise<Outcome>
  funds: Funds
  /** The chain that the node is on. */
  nodeChainId: () => Promise<number>
}

/** When a transaction was mined, in milliseconds; null if its time has passed and it is in no block. */
async function minedAt(client: Client, hash: Hex, expiresMs: number): Promise<number | null> {
  try {
    const { blockHash } = await getTransactionReceipt(client, { hash })
    return Number((await getBlock(client, { blockHash })).timestamp) * 1000
  } catch (error) {
    if (!(error instanceof TransactionReceiptNotFoundError)) throw error
    // A node that was down must catch up before it knows.
    if (Number((await getBlock(client)).timestamp) * 1000 <= expiresMs) throw error
    return null
  }
}

/** Whether the chain has a transaction that the payer sent, in a block from before the challenge expired. */
async function isPushedInTime(client: Client, { mode, txHash, credential }: Proof): Promise<boolean> {
  const expiresMs = Date.parse(credential.challenge.expires ?? '')
  if (mode !== 'push' || !(Date.now() - expiresMs <= LATE_FOR_MS)) return false
  const minedMs = await minedAt(client, txHash, expiresMs)
  return minedMs !== null && minedMs <= expiresMs
}

/** The only part that talks to mppx and to the chain. Sends nothing to a node before the first payment. */
export function createGateway(terms: PaymentTerms, chainId: number): Gateway {
  const { recipient, realm, challengeSecret, challengeMs = CHALLENGE_MS } = terms
  const currencies = currenciesOn(chainId, terms.currencies) as readonly Address[]
  const chain = defineChain({ ...tempoModerato, id: chainId })
  // No retries: a repeated broadcast fails because the transaction is known; the payer decides whether to present the
  // credential again.
  const client = createClient({ chain, transport: http(terms.rpcUrl, { retryCount: 0, timeout: RPC_TIMEOUT_MS }) })
  const sponsor = terms.feePayerKey && { account: privateKeyToAccount(terms.feePayerKey), feePayer: true as const }
  const sponsorBudget = { store: Store.memory() }

  const chargeWith = (store: Store.AtomicStore, currency: Address) =>
    tempo.charge({ recipient, currency, getClient: () => client, store, sponsorBudget, ...sponsor })
  const mppxWith = (store: Store.AtomicStore, currency: Address) =>
    Mppx.create({ realm, secretKey: challengeSecret, methods: [chargeWith(store, currency)] })
  const offers = mppxWith(Store.memory(), currencies[0] as Address)

  const challenge = ({ price, scope, description }: Offer, currency: Address): Promise<Challenge.Challenge> =>
    offers.challenge.tempo.charge({
      currency,
      amount: price,
      scope,
      description,
      meta: { nonce: randomUUID() },
      expires: new Date(Date.now() + challengeMs),
    })

  return {
    chainId,
    currencies,
    challenges: (offer) => Promise.all(currencies.map((currency) => challenge(offer, currency))),
    pay: async (proof, offer, { accept, release }) => {
      // mppx records a used transaction in its store right before it broadcasts it: the payment is claimed there.
      const store = {
        ...Store.memory(),
        tryClaim: (key: string) => accept(key.slice(HASH_KEY.length)),
        delete: async () => release(),
      }
      const route = { scope: offer.scope, meta: { nonce: proof.nonce }, realm, request: { amount: offer.price } }
      try {
        return await mppxWith(store, proof.currency).broadcastCredential(proof.credential, route)
      } catch (expired) {
        if (!(expired instanceof Errors.PaymentExpiredError) || !(await isPushedInTime(client, proof))) throw expired
        // mppx checks everything else: the current request, under the id to which the memo of the transfer is bound.
        const expires = new Date(Date.now() + CHALLENGE_MS).toISOString()
        const renewed = { ...(await challenge(offer, proof.currency)), id: proof.challengeId, expires }
        return Method.broadcastCredential([chargeWith(store, proof.currency)], {
          ...proof.credential,
          challenge: renewed,
        }).catch((error) => {
          throw error instanceof Errors.PaymentError ? expired : error
        })
      }
    },
    outcome: async (hash, { price }, currency) => {
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
    funds: createFunds(client, { ...terms, currencies }, RPC_TIMEOUT_MS),
    nodeChainId: () => getChainId(client),
  }
}

/** The gateway to the chain of the database, once `readChainId` knows it. Resolves to null until then. */
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
