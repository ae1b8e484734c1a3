import { encodeFunctionData, type Hex, maxUint256 } from 'viem'
import { Abis } from 'viem/tempo'
import { type Account, accounts, devAccount } from '../../local/chain/accounts.js'
import { type Call, call, role } from '../../local/chain/calls.js'
import { PATH_USD } from '../../local/chain/stables.js'
import type { TestChain } from './own-chain.js'
import { mine, newToken } from './transactions.js'

const tip20 = (to: Hex, functionName: 'approve' | 'transferFrom', args: readonly unknown[]): Call => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})

/** A call that moves what its owner has approved. */
export const move = (token: Hex, from: Account, to: Account, amount: bigint): Call =>
  tip20(token, 'transferFrom', [from.address, to.address, amount])

/** Accounts of their own for trades: whoever signs a batch may move the tokens of all of them. */
export const parties = [devAccount(0), devAccount(1), devAccount(2), devAccount(19)] as const

/** Lets each of the parties move these tokens of the others. */
export async function approveAll(chain: TestChain, tokens: readonly Hex[]): Promise<void> {
  await mine(
    chain,
    parties.map((from) => ({
      from,
      calls: tokens.flatMap((token) => [
        call.approveDex(token),
        ...parties.map(({ address }) => tip20(token, 'approve', [address, maxUint256])),
      ]),
    })),
  )
}

/** A token of which an account has any amount, with a bid of `bid` tokens at `tick`, if there is to be one. */
export async function ownToken(
  chain: TestChain,
  {
    salt,
    holder,
    amount,
    bid,
    tick = 0,
  }: { salt: number; holder: Account; amount: bigint; bid?: bigint; tick?: number },
): Promise<Hex> {
  const { token } = await newToken(chain, salt)
  const { issuer } = accounts
  await mine(chain, [
    {
      from: issuer,
      calls: [call.grantRole(token, role.issuer, issuer.address), call.mint(token, holder.address, amount)],
    },
  ])
  if (bid !== undefined) {
    const { address } = PATH_USD
    await mine(chain, [
      { from: holder, calls: [call.approveDex(address), call.place(token, { amount: bid, isBid: true, tick })] },
    ])
  }
  return token.toLowerCase() as Hex
}
