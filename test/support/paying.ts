import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ClickHouseClient } from '@clickhouse/client'
import { Challenge, Credential } from 'mppx'
import { Mppx, tempo } from 'mppx/client'
import { type Address, createClient, defineChain, http, type LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { Actions, Transaction } from 'viem/tempo'
import { tempoModerato } from 'viem/tempo/chains'
import type { PaymentTerms } from '../../api/callers/payments/terms.js'
import { insertChainIdentity } from '../../clickhouse/chain/identity.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { PAYER_KEY } from '../../local/chain/accounts.js'
import { CHAIN_ID } from '../../local/chain/anvil.js'
import type { BareChain } from '../../local/chain/bare-chain.js'
import './t4-nonces.mjs'
import { addBlocks, addFacts, flow, stableAddress, stablecoin, stateRead } from './rows.js'

const NOW = Math.floor(Date.now() / 1000)

/** The routes with a price, and their prices. */
export const PAID_PATHS = {
  analysis: { path: `/api/v1/stablecoins/${stableAddress(1)}/analysis`, price: 50_000n },
  history: { path: `/api/v1/stablecoins/flows/history?from=${NOW - 7200}&to=${NOW - 600}`, price: 20_000n },
  export: { path: `/api/v1/stablecoins/flows/export?from=${NOW - 7200}&to=${NOW - 600}`, price: 20_000n },
} as const

/** The data that those routes need. */
export async function insertPaidData(clickhouse: ClickHouseClient, chain_id = CHAIN_ID): Promise<void> {
  await insertChainIdentity(clickhouse, { chain_id, genesis_hash: '0x' }, 'paid')
  await addBlocks(clickhouse, [NOW - 86_400, NOW - 3600])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1), stablecoin(2)],
    states: [stateRead(stableAddress(1)), stateRead(stableAddress(2))],
    flows: [flow(1, 2, NOW - 3600)],
  })
}

/**
 * Mines at least one block a second, as real chains do: transactions that are valid for 25 seconds are refused if the
 * newest block is much older. The returned function stops that.
 */
export function keepTicking(chain: BareChain): () => Promise<void> {
  let isOn = true
  const ticking = (async () => {
    while (isOn) {
      await chain.mine()
      await sleep(1000)
    }
  })()
  return async () => {
    isOn = false
    await ticking
  }
}

/** A token that every account of a new chain has, besides the reference stable. */
export const ALPHA_USD = '0x20c0000000000000000000000000000000000001'

/** Settings with a recipient that has never been paid. */
export const paymentTerms = (rpcUrl: string, changes: Partial<PaymentTerms> = {}): PaymentTerms => ({
  recipient: privateKeyToAddress(generatePrivateKey()).toLowerCase() as Address,
  currencies: [REFERENCE_STABLE],
  rpcUrl,
  realm: 'localhost',
  challengeSecret: 'a secret of the tests only, of 32 bytes',
  ...changes,
})

const clientOn = (rpcUrl: string, account?: LocalAccount) =>
  createClient({
    chain: defineChain({ ...tempoModerato, id: CHAIN_ID }),
    transport: http(rpcUrl),
    pollingInterval: 50,
    ...(account && { account }),
  })

/** A payer's mppx, as published. It pays whatever is requested. */
export const payer = (rpcUrl: string, account: LocalAccount, mode: 'pull' | 'push' = 'pull') =>
  Mppx.create({
    polyfill: false,
    methods: [tempo.charge({ account, mode, getClient: () => clientOn(rpcUrl, account) })],
  })

/** Node's flags for another program that pays on the local chain. */
export const T4_NONCES = ['--import', fileURLToPath(new URL('./t4-nonces.mjs', import.meta.url))] as const

/** Runs mppx's own command line tool, with the key and the nonces that the local chain has for payers. */
export async function mppx(rpcUrl: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const bin = join(dirname(createRequire(import.meta.url).resolve('mppx')), 'bin.js')
  // Colours, which CI systems request, are not part of the output.
  const env = { ...process.env, NO_COLOR: '1', MPPX_PRIVATE_KEY: PAYER_KEY, MPPX_RPC_URL: rpcUrl }
  return promisify(execFile)(process.execPath, [...T4_NONCES, bin, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  )
}

/** An account's balance of a token, from the chain. */
export const balanceOf = async (rpcUrl: string, account: string, token = REFERENCE_STABLE): Promise<bigint> =>
  (await Actions.token.getBalance(clientOn(rpcUrl), { account: account as Address, token: token as Address })).amount

/** The same transaction with these changes, signed by another account, in the same credential. */
export async function resigned(
  credential: string,
  account: LocalAccount,
  changes: Record<string, unknown> = {},
): Promise<string> {
  const made = Credential.deserialize<{ signature: Transaction.TransactionSerializedTempo }>(credential)
  const {
    signature: _,
    from: __,
    ...unsigned
  } = Transaction.deserialize(made.payload.signature) as Record<string, unknown>
  const transaction = { ...unsigned, ...changes } as never
  const signature = await account.signTransaction(transaction, { serializer: Transaction.serialize as never })
  return Credential.serialize({ ...made, payload: { type: 'transaction', signature } })
}

/** Sends some of the reference stable; the transaction's fee is added. */
export async function send(rpcUrl: string, from: LocalAccount, to: string, amount: bigint): Promise<void> {
  const client = clientOn(rpcUrl, from)
  await Actions.token.transferSync(client, { to: to as Address, amount, token: REFERENCE_STABLE } as never)
}

/** The response to a request with this credential, or without one. */
export const present = (url: string, credential?: string): Promise<Response> =>
  fetch(url, credential === undefined ? {} : { headers: { authorization: credential } })

/** The challenges of a route with a price, one in each currency. */
export const challengesAt = async (url: string): Promise<Challenge.Challenge[]> =>
  Challenge.fromResponseList(await present(url))

/** The first challenge of a route with a price. */
export const challengeAt = async (url: string): Promise<Challenge.Challenge> =>
  (await challengesAt(url))[0] as Challenge.Challenge

/**
 * A real credential for a real challenge, signed (and, in push mode, sent) for the terms in `altered` instead of those
 * of the challenge.
 */
export async function credentialFor(
  rpcUrl: string,
  challenge: Challenge.Challenge,
  account: LocalAccount,
  mode: 'pull' | 'push' = 'pull',
  altered: { request?: Record<string, unknown>; expires?: string } = {},
): Promise<string> {
  const asked = { ...challenge, ...altered, request: { ...challenge.request, ...altered.request } }
  const headers = { 'www-authenticate': Challenge.serialize(asked) }
  const made = await payer(rpcUrl, account, mode).createCredential(new Response(null, { status: 402, headers }))
  return Credential.serialize({ ...Credential.deserialize(made), challenge })
}
