import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Address, type Client, createClient, http, keccak256, toBytes } from 'viem'
import { getBlockNumber, getLogs, readContract } from 'viem/actions'
import { Abis } from 'viem/tempo'
import type { Proof } from './proof.js'
import type { PaymentTerms } from './terms.js'

/** How often the node is asked, at most, whatever the number of credentials. */
const ASK_EVERY_MS = 1000
/** Blocks before the first read, and at most this many in any: nodes that limit the range of logs allow this many. */
const BLOCKS = 1000n
/** Payments that are remembered. */
const PAYMENTS = 50_000
/** Balances that are asked for together, and at most at a time. */
const BALANCES = 100

const [TRANSFER_WITH_MEMO] = Abis.tip20.filter(
  (item): item is Extract<(typeof Abis.tip20)[number], { name: 'TransferWithMemo' }> & { type: 'event' } =>
    item.type === 'event' && item.name === 'TransferWithMemo',
)

/** The last bytes of the memo of a payment, which bind it to a challenge: MPP's attribution memo. */
const NONCE_BYTES = 7
const nonceOf = (challengeId: string): string => keccak256(toBytes(challengeId)).slice(2, 2 + NONCE_BYTES * 2)
const keyOf = (currency: string, txHash: string, nonce: string): string => `${currency}:${txHash}:${nonce}`

/** Tells payers who have money from those who have none, at a cost that does not grow with their number. */
export type Funds = {
  /**
   * Whether a credential has money behind it: a transfer to the recipient, in the currency and with the memo of its
   * challenge, which is in one of the last 1,000 blocks or was read before; or a signature by an account that has at
   * least the amount in that currency. Answers within two reads of the node; no for a signature while too many are being
   * asked about. Rejects like the node.
   */
  has: (proof: Proof, amount: bigint) => Promise<boolean>
}

type FundsTerms = Pick<PaymentTerms, 'recipient' | 'rpcUrl'> & { currencies: readonly Address[] }

/** Funds on the chain of `client`, which asks once per request; balances are asked for in batches. */
export function createFunds(client: Client, { recipient, currencies, rpcUrl }: FundsTerms, timeout: number): Funds {
  const transport = http(rpcUrl, { retryCount: 0, timeout, batch: { wait: ASK_EVERY_MS, batchSize: BALANCES } })
  const batching = createClient({ chain: client.chain, transport })
  const paid = new LRUCache<string, true>({ max: PAYMENTS })
  let next = 0n
  let readAt = Number.NEGATIVE_INFINITY
  let reading = Promise.resolve()
  let planned: Promise<void> | null = null
  let asking = 0

  async function readTransfers(): Promise<void> {
    const toBlock = await getBlockNumber(client, { cacheTime: 0 })
    const earliest = toBlock < BLOCKS ? 0n : toBlock - BLOCKS + 1n
    const fromBlock = next > earliest ? next : earliest
    if (fromBlock > toBlock) return
    const logs = await getLogs(client, {
      address: [...currencies],
      event: TRANSFER_WITH_MEMO as NonNullable<typeof TRANSFER_WITH_MEMO>,
      args: { to: recipient },
      fromBlock,
      toBlock,
      strict: true,
    })
    for (const { address, transactionHash, args } of logs)
      paid.set(keyOf(address.toLowerCase(), transactionHash, args.memo.slice(-NONCE_BYTES * 2)), true)
    next = toBlock + 1n
  }

  /** Resolves after a read that begins later than this call: the one under way may have passed the payment's block. */
  function refresh(): Promise<void> {
    const read = async () => {
      await reading.catch(() => {})
      await sleep(Math.max(0, readAt + ASK_EVERY_MS - performance.now()))
      planned = null
      reading = readTransfers().finally(() => {
        readAt = performance.now()
      })
      await reading
    }
    planned ??= read()
    return planned
  }

  async function hasArrived({ currency, txHash, challengeId }: Proof): Promise<boolean> {
    const key = keyOf(currency, txHash, nonceOf(challengeId))
    if (!paid.has(key)) await refresh()
    return paid.has(key)
  }

  async function canPay(currency: Address, payer: Address, amount: bigint): Promise<boolean> {
    if (asking >= BALANCES) return false
    asking += 1
    try {
      const call = { address: currency, abi: Abis.tip20, functionName: 'balanceOf', args: [payer] } as const
      return (await readContract(batching, call)) >= amount
    } finally {
      asking -= 1
    }
  }

  return {
    has: async (proof, amount) => {
      if (proof.mode === 'push') return hasArrived(proof)
      const signer = proof.signer()
      return signer !== null && signer === proof.payer && canPay(proof.currency, signer as Address, amount)
    },
  }
}
