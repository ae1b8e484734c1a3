import { type Address, type Hex, numberToHex } from 'viem'
import { accounts } from '../../local/chain/accounts.js'
import type { BareChain } from '../../local/chain/bare-chain.js'
import { type Call, call, role } from '../../local/chain/calls.js'
import { PATH_USD, tokenAddress } from '../../local/chain/stables.js'

/** A stable and its book take some 13 million gas; a block that uses half of this chain's 2,000 million raises the fee. */
const STABLES_PER_BLOCK = 50
const TOKEN = 10n ** 6n
/** Tokens on each side of a book, at two prices: sizes up to a hundred thousand have quotes. */
const LEVEL = 100_000n * TOKEN

const saltOf = (index: number): Hex => numberToHex(index + 1, { size: 32 })

/** The address of the stable with this index, of those that `createStables` creates. */
export const stableAt = (index: number): Address => tokenAddress(accounts.maker.address, saltOf(index))

function createWithBook(index: number): Call[] {
  const { address } = accounts.maker
  const stable = stableAt(index)
  const tick = 10 * (index % 20)
  return [
    call.createToken({
      name: `Bench Dollar ${index}`,
      symbol: `B${index}USD`,
      currency: 'USD',
      quote: PATH_USD.address,
      admin: address,
      salt: saltOf(index),
    }),
    call.grantRole(stable, role.issuer, address),
    call.mint(stable, address, 2n * LEVEL),
    call.approveDex(stable),
    ...[tick + 10, tick + 110].flatMap((away) => [
      call.place(stable, { isBid: true, tick: -away, amount: LEVEL }),
      call.place(stable, { isBid: false, tick: away, amount: LEVEL }),
    ]),
  ]
}

/** Creates `count` stables on a fresh chain, each with a book of two levels a side against pathUSD. */
export async function createStables({ mine }: BareChain, count: number): Promise<void> {
  const from = accounts.maker
  await mine([{ label: 'approve pathUSD', from, calls: [call.approveDex(PATH_USD.address)] }])
  for (let first = 0; first < count; first += STABLES_PER_BLOCK) {
    const indices = Array.from({ length: Math.min(STABLES_PER_BLOCK, count - first) }, (_, i) => first + i)
    await mine(indices.map((index) => ({ label: `create stable ${index}`, from, calls: createWithBook(index) })))
  }
}
