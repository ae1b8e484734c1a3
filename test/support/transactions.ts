import { type Address, type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import { accounts } from '../../local/chain/accounts.js'
import { call } from '../../local/chain/calls.js'
import { readHead } from '../../local/chain/head.js'
import type { Intent } from '../../local/chain/intent.js'
import { createRpc } from '../../local/chain/rpc.js'
import { PATH_USD } from '../../local/chain/stables.js'
import { createWallet } from '../../local/chain/wallet.js'
import type { TestChain } from './own-chain.js'

export { balanceAt } from '../../local/chain/test/integration/chain.js'

const RawReceipt = z.object({
  transactionHash: z.string(),
  from: z.string(),
  status: z.enum(['0x0', '0x1']),
  gasUsed: z.coerce.number(),
  effectiveGasPrice: z.coerce.number(),
  blockNumber: z.coerce.number(),
  logs: z.array(
    z.object({
      address: z.string(),
      topics: z.array(z.string()),
      data: z.string(),
      logIndex: z.coerce.number(),
    }),
  ),
})

/** A receipt as the node returns it. */
export type Receipt = z.infer<typeof RawReceipt>

/** The receipts of a block, in the order of its transactions. */
export async function receiptsOf({ rpcUrl }: Pick<TestChain, 'rpcUrl'>, block: number): Promise<Receipt[]> {
  return z.array(RawReceipt).parse(await createRpc(rpcUrl).call('eth_getBlockReceipts', [numberToHex(block)]))
}

/** Mines a block of signed transactions, which becomes the chain's head. Throws unless it holds them all. */
export async function mineRaw(chain: TestChain, raws: readonly Hex[]): Promise<Receipt[]> {
  const rpc = createRpc(chain.rpcUrl)
  const hashes = z.array(z.string()).parse(await rpc.batch(raws.map((raw) => ['eth_sendRawTransaction', [raw]])))
  await rpc.call('evm_mine')
  chain.head = (await readHead(rpc)).number
  const receipts = await receiptsOf(chain, chain.head)
  return hashes.map((hash) => {
    const receipt = receipts.find(({ transactionHash }) => transactionHash === hash)
    if (!receipt) throw new Error(`the node dropped ${hash}`)
    return receipt
  })
}

/** Mines a block of these transactions, signed by their accounts, in this order. */
export async function mine(chain: TestChain, intents: readonly Omit<Intent, 'label'>[]): Promise<Receipt[]> {
  const nonces = new Map<Address, number>()
  for (const { from } of intents) nonces.set(from.address, await nonceOf(chain, from.address))
  const signed = await createWallet(chain.chainId, nonces).sign(intents.map((intent) => ({ label: '', ...intent })))
  return mineRaw(
    chain,
    signed.map(({ raw }) => raw),
  )
}

/** How many transactions an account has sent. */
export async function nonceOf({ rpcUrl }: Pick<TestChain, 'rpcUrl'>, address: Address): Promise<number> {
  return Number(await createRpc(rpcUrl).call('eth_getTransactionCount', [address, 'latest']))
}

/** The positions of an event's logs in a receipt, found by first topic, in the columns that rows have. */
export function logPositions({ logs, transactionHash, blockNumber }: Receipt, topic: string) {
  return logs
    .filter(({ topics }) => topics[0] === topic)
    .map(({ logIndex }) => ({ block_number: blockNumber, log_index: logIndex, tx_hash: transactionHash }))
}

/** Enough for strings of 20 kB: each 32 bytes fill a new storage slot, which costs 250,000. */
const TEXT_GAS = 500_000_000n

/** Creates a token for a test, which the devnet's issuer administers. Returns it with the receipt. */
export async function newToken(
  chain: TestChain,
  salt: number,
  called: Partial<{ name: string; symbol: string; currency: string; quote: Hex }> = {},
): Promise<{ token: Hex; receipt: Receipt }> {
  const { address: admin } = accounts.issuer
  const parameters = { name: 'Test', symbol: 'TEST', currency: 'USD', quote: PATH_USD.address, ...called, admin }
  const raw = await accounts.issuer.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce: await nonceOf(chain, admin),
    gas: TEXT_GAS,
    maxFeePerGas: 20_000_000_000n,
    maxPriorityFeePerGas: 20_000_000_000n,
    ...call.createToken({ ...parameters, salt: numberToHex(salt, { size: 32 }) }),
  })
  const [receipt] = (await mineRaw(chain, [raw])) as [Receipt]
  if (receipt.status !== '0x1') throw new Error('the token was not made')
  return { token: receipt.logs[0]?.address as Hex, receipt }
}
