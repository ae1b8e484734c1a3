import { numberToHex } from 'viem'
import { z } from 'zod'
import { NETWORKS } from '../../ingest/chain/networks.js'
import { type Account, accounts } from '../../local/chain/accounts.js'
import { type BareChain, startBareChain } from '../../local/chain/bare-chain.js'
import { type Call, call } from '../../local/chain/calls.js'
import type { RpcCall } from '../../local/chain/rpc.js'
import { PATH_USD } from '../../local/chain/stables.js'
import { createStables, stableAt } from './many-stables.js'

const TOKEN = 10n ** 6n
const STABLES = 10
const TRANSACTIONS = 20
const { traders, maker } = accounts
const tokens = Array.from({ length: STABLES }, (_, i) => stableAt(i))
const senders: readonly Account[] = [...traders, maker]
/** Tempo's price until hardfork T7, for nodes as for wallets. */
const GAS_PRICE = numberToHex(20_000_000_000n)
const GAS = numberToHex(3_000_000n)
/** States that a pruned chain keeps: of all blocks that are not final, and some more. */
const PRUNED_STATES = 200
/** For the blocks that make the stables, and the time it takes to mine them. */
const SET_UP_SECONDS = 300

export type BusyChain = BareChain & {
  /** The first and the last of the blocks that are full of transactions; they are final. */
  from: number
  to: number
}

const pick = <Item>(items: readonly Item[], n: number): Item => items[n % items.length] as Item

/** The n-th transaction. In twenty: four swaps to and fro, three transfers with memos, a mint, a burn, and transfers. */
function transaction(n: number): { from: Account; made: Call } {
  const kind = n % TRANSACTIONS
  const from = pick(traders, n)
  const to = pick(traders, n + 1).address
  const stable = pick(tokens, Math.floor(n / 3))
  const amount = TOKEN + BigInt(n % 1000)
  if (kind < 4) {
    const [tokenIn, tokenOut] = kind % 2 === 0 ? [stable, PATH_USD.address] : [PATH_USD.address, stable]
    return { from, made: call.swap(tokenIn, tokenOut, { tokenIn, tokenOut, exact: 'in', amount }) }
  }
  if (kind < 7) return { from, made: call.transferWithMemo(stable, to, amount, n) }
  if (kind === 7) return { from: maker, made: call.mint(stable, maker.address, amount) }
  if (kind === 8) return { from: maker, made: call.burn(stable, amount) }
  return { from, made: call.transfer(stable, to, amount) }
}

/** Gives the traders and the stables' issuer something to trade, and lets the DEX have it. */
async function setUp(chain: BareChain): Promise<void> {
  await createStables(chain, STABLES)
  const holders = senders.map(({ address }) => address)
  await chain.mine([
    {
      label: 'mint to the traders',
      from: maker,
      calls: tokens.flatMap((token) => holders.map((holder) => call.mint(token, holder, 1_000_000n * TOKEN))),
    },
    ...traders.map((from) => ({
      label: 'approve the DEX',
      from,
      calls: [PATH_USD.address, ...tokens].map(call.approveDex),
    })),
  ])
}

const Receipts = z.array(z.object({ status: z.string() }))

/**
 * A local chain under `dir` with `blocks` blocks, a second apart, of twenty transactions each, and behind them as many
 * empty ones, of now, as make them final. Every block's state can be called, or with `pruned`, that of the newest only: the
 * node keeps each on disk as a whole, with the hashes of all blocks before, which for 20,000 is some 30 GB. Accounts, stables and amounts are the same
 * in every run. The node accepts its transactions unsigned: signing four hundred thousand here would take longer than mining them.
 */
export async function startBusyChain(
  dir: string,
  blocks: number,
  { pruned = false }: { pruned?: boolean } = {},
): Promise<BusyChain> {
  const chain = await startBareChain(dir, {
    genesisTimestamp: Math.floor(Date.now() / 1000) - blocks - SET_UP_SECONDS,
    maxStates: blocks + 1000,
    ...(pruned && { prunesStates: PRUNED_STATES }),
  })
  try {
    await setUp(chain)
    await chain.rpc.batch(senders.map(({ address }): RpcCall => ['anvil_impersonateAccount', [address]]))
    const from = Number(await chain.rpc.call('eth_blockNumber')) + 1
    const counts = await chain.rpc.batch(
      senders.map(({ address }): RpcCall => ['eth_getTransactionCount', [address, 'latest']]),
    )
    const nonces = new Map(senders.map(({ address }, i) => [address, Number(counts[i])]))
    const send = (n: number): RpcCall => {
      const { from, made } = transaction(n)
      const nonce = nonces.get(from.address) ?? 0
      nonces.set(from.address, nonce + 1)
      const fees = { gas: GAS, maxFeePerGas: GAS_PRICE, maxPriorityFeePerGas: GAS_PRICE }
      return ['eth_sendTransaction', [{ ...made, ...fees, from: from.address, nonce: numberToHex(nonce) }]]
    }
    const start = Math.floor(Date.now() / 1000) - blocks
    for (let block = 0; block < blocks; block++) {
      const sends = Array.from({ length: TRANSACTIONS }, (_, i) => send(block * TRANSACTIONS + i))
      await chain.rpc.batch([['evm_setNextBlockTimestamp', [start + block]], ...sends])
      await chain.rpc.call('evm_mine')
      if (block % 1000 !== 0 && block !== blocks - 1) continue
      const receipts = Receipts.parse(await chain.rpc.call('eth_getBlockReceipts', ['latest']))
      const succeeded = receipts.filter(({ status }) => status === '0x1').length
      if (succeeded !== TRANSACTIONS) throw new Error(`${succeeded} transactions of block ${from + block} succeeded`)
    }
    await chain.rpc.call('evm_setNextBlockTimestamp', [Math.floor(Date.now() / 1000)])
    await chain.rpc.call('anvil_mine', [numberToHex(NETWORKS.devnet.deepestReorg + 1), numberToHex(0)])
    return { ...chain, from, to: from + blocks - 1 }
  } catch (error) {
    await chain.stop()
    throw error
  }
}
