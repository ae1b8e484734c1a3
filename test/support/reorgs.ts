import { type Hex, keccak256, numberToHex, toHex } from 'viem'
import { accounts } from '../../local/chain/accounts.js'
import { type Call, call } from '../../local/chain/calls.js'
import type { Intent } from '../../local/chain/intent.js'
import { createRpc } from '../../local/chain/rpc.js'
import { PATH_USD, type PlannedToken } from '../../local/chain/stables.js'
import { createWallet } from '../../local/chain/wallet.js'
import type { TestChain } from './own-chain.js'

type Header = { number: number; hash: string; timestamp: number }

export type ChangingChain = {
  head: () => Promise<Header>
  /**
   * Mines `count` blocks with transactions on top. The transactions differ for every `salt`; the stables depend on the
   * part of it before a colon.
   */
  mine: (count: number, salt: string) => Promise<void>
  /** Replaces the newest `depth` blocks by others, whose transactions differ for every `salt`. */
  reorg: (depth: number, salt: string) => Promise<void>
  /** Takes a snapshot of the chain; `back` restores it. */
  note: () => Promise<{ back: () => Promise<void> }>
}

type Token = Pick<PlannedToken, 'symbol' | 'address'>

const swap = (tokenIn: Token, tokenOut: Token, amount: bigint): Call => {
  const exact = 'in' as const
  return call.swap(tokenIn.address, tokenOut.address, {
    tokenIn: tokenIn.symbol,
    tokenOut: tokenOut.symbol,
    exact,
    amount,
  })
}

/** Wei per gas, less than the wallet offers. */
const BASE_FEE = 1_000_000_000n

const everyone = Object.values(accounts).flat()

/** Rewrites the newest blocks of a chain that does not mine by itself. */
export function changingChain({ rpcUrl, chainId, plan }: TestChain): ChangingChain {
  const rpc = createRpc(rpcUrl)
  const [one, other] = plan.stables.filter(
    ({ hasPair, quote, temperament, pausable }) =>
      hasPair && !pausable && temperament === 'steady' && quote === PATH_USD.symbol,
  )
  if (!one || !other) throw new Error('the chain has too few stables')

  const head = async (): Promise<Header> => {
    const block = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as Record<keyof Header, string>
    return { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) }
  }

  /** Creates a stable, mints supply, places an order, fills others with two swaps, and transfers. */
  const intents = (salt: string, block: number): Intent[] => {
    const id = keccak256(toHex(`${salt} ${block}`))
    const name = `${salt.split(':')[0]} ${block}`
    const nameId = keccak256(toHex(name))
    const amount = (most: bigint) => (BigInt(id) % most) + 1_000_000n
    const [buyer, seller, giver] = accounts.traders
    const created = { name, symbol: `R${nameId.slice(2, 6)}`, currency: 'USD', quote: PATH_USD.address, salt: nameId }
    const intent = (from: Intent['from'], ...calls: Intent['calls']): Intent => ({ label: salt, from, calls })
    return [
      intent(accounts.issuer, call.createToken({ ...created, admin: accounts.issuer.address })),
      intent(accounts.bridge, call.mint(one.address, accounts.bridge.address, amount(9_000_000n))),
      intent(
        accounts.maker,
        call.place(other.address, { amount: 100_000_000n, isBid: true, tick: -10 * Number(BigInt(id) % 50n) - 500 }),
      ),
      intent(buyer, swap(PATH_USD, one, amount(40_000_000n))),
      intent(seller, swap(one, other, amount(30_000_000n))),
      intent(giver, call.transfer(other.address, accounts.suspect.address, amount(5_000_000n))),
    ]
  }

  /** The transactions of `count` blocks that follow block `parent`. */
  const transactions = async (parent: number, count: number, salt: string): Promise<Hex[][]> => {
    const counts = await rpc.batch(
      everyone.map(({ address }) => ['eth_getTransactionCount', [address, numberToHex(parent)]] as const),
    )
    const wallet = createWallet(chainId, new Map(everyone.map(({ address }, i) => [address, Number(counts[i])])))
    const blocks: Hex[][] = []
    for (let i = 0; i < count; i++) blocks.push((await wallet.sign(intents(salt, i))).map(({ raw }) => raw))
    return blocks
  }

  return {
    head,
    mine: async (count, salt) => {
      const { number, timestamp } = await head()
      for (const [i, raws] of (await transactions(number, count, salt)).entries()) {
        await rpc.batch([
          ['evm_setNextBlockTimestamp', [timestamp + 20 * (i + 1)]],
          // Otherwise the time would depend on the block mined last, which may have been removed.
          ['anvil_setNextBlockBaseFeePerGas', [numberToHex(BASE_FEE)]],
          ...raws.map((raw) => ['eth_sendRawTransaction', [raw]] as const),
        ])
        await rpc.call('evm_mine')
      }
    },
    reorg: async (depth, salt) => {
      const { number } = await head()
      const blocks = await transactions(number - depth, depth, salt)
      await rpc.call('anvil_reorg', [depth, blocks.flatMap((raws, offset) => raws.map((raw) => [raw, offset]))])
    },
    note: async () => {
      let snapshot = await rpc.call('evm_snapshot')
      return {
        back: async () => {
          await rpc.call('evm_revert', [snapshot])
          snapshot = await rpc.call('evm_snapshot')
        },
      }
    },
  }
}
