import { type Address, encodeAbiParameters, type Hex, keccak256, numberToHex } from 'viem'
import { accounts, payer } from './accounts.js'
import type { Rpc, RpcCall } from './rpc.js'
import { GENESIS_STABLES, PATH_USD } from './stables.js'

/** What the node gives each of its own accounts: micro-units of every genesis stable, and wei. */
const STABLES = 2n ** 64n - 1n
const WEI = 10n ** 22n

/** Where a TIP-20 stores its total supply, and the balances by account. */
const SLOT = { totalSupply: 8n, balances: 9n } as const

const word = (value: bigint): Hex => numberToHex(value, { size: 32 })

const balanceSlot = (holder: Address): Hex =>
  keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [holder, SLOT.balances]))

/**
 * Gives the market's accounts and the visitors' payer what the node gives its own accounts. Only for a node with nothing
 * but its genesis block: the state of a later one already has it.
 */
export async function fundAccounts(rpc: Rpc): Promise<void> {
  const funded = [...Object.values(accounts).flat(), payer].map(({ address }) => address)
  const tokens = [PATH_USD, ...GENESIS_STABLES].map(({ address }) => address)
  const supplies = await rpc.batch(
    tokens.map((token): RpcCall => ['eth_getStorageAt', [token, word(SLOT.totalSupply), 'latest']]),
  )
  await rpc.batch([
    ...funded.flatMap((holder): RpcCall[] => [
      ['anvil_setBalance', [holder, numberToHex(WEI)]],
      // Otherwise a swap pays its fee in the token it sells, which the validator does not take.
      ['anvil_setFeeToken', [holder, PATH_USD.address]],
    ]),
    ...tokens.flatMap((token, i): RpcCall[] => [
      ...funded.map((holder): RpcCall => ['anvil_setStorageAt', [token, balanceSlot(holder), word(STABLES)]]),
      [
        'anvil_setStorageAt',
        [token, word(SLOT.totalSupply), word(BigInt(supplies[i] as Hex) + STABLES * BigInt(funded.length))],
      ],
    ]),
  ])
}
