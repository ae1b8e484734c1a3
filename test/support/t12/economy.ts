import { keccak256, toHex } from 'viem'
import { Addresses } from 'viem/tempo'
import { type Random, randomFor } from '../../../local/chain/random.js'
import { encodedLog } from '../logs.js'
import { type Action, type BareLog, type Channel, FEE_MANAGER, PORTAL, roleOf } from './actions.js'
import { after, keyOf, type Ledger } from './ledger.js'

export const PATH_USD = Addresses.pathUsd.toLowerCase()
const TOKEN = 10n ** 6n
/** The least of which a part is spent, in base units. */
const SMALLEST = 1_000n
/** What a validator gets of the fees that were paid, which is less than those of the actors. */
const DISTRIBUTED = 5n
const addressOf = (text: string): string => keccak256(toHex(text)).slice(0, 42)

/** The accounts of a seed that act as T12 allows; none of them exists on the local chain. */
const actorsOf = (seed: number): [string, string, string] => [
  addressOf(`actor ${seed} 0`),
  addressOf(`actor ${seed} 1`),
  addressOf(`actor ${seed} 2`),
]
const bridgeOf = (seed: number): string => addressOf(`bridge ${seed}`)
/** A virtual address of an account: four bytes of the owner, ten that mark it, six of the owner's choice. */
const virtualOf = (owner: string): string => `0x${owner.slice(2, 10)}${'fd'.repeat(10)}${owner.slice(-12)}`

const ISSUER = roleOf('ISSUER_ROLE')
const BURN_AT = roleOf('BURN_AT_ROLE')
const BURN_BLOCKED = roleOf('BURN_BLOCKED_ROLE')

/** `quotes` has the quote token of every token that was made; `tokens` are these and pathUSD. */
type Scene = {
  seed: number
  random: Random
  ledger: Ledger
  tokens: readonly string[]
  quotes: ReadonlyMap<string, string>
}
type Holding = { token: string; account: string; amount: bigint }

const isAdopted = ({ seed, ledger }: Scene, token: string): boolean =>
  ledger.roles.get(keyOf(token, bridgeOf(seed), ISSUER)) === true

/** Whoever may use a token's powers under T12. */
const adoption = ({ seed }: Scene, token: string): Action[] =>
  [
    [ISSUER, actorsOf(seed)[0]],
    [ISSUER, bridgeOf(seed)],
    [BURN_AT, bridgeOf(seed)],
    [BURN_BLOCKED, actorsOf(seed)[1]],
  ].map(([role, account]) => ({ kind: 'role', token, role: role as string, account: account as string, granted: true }))

const amountOf = ({ random }: Scene, most: bigint): bigint => 1n + (most * BigInt(random.int(1, 40))) / 100n
const adoptedToken = (scene: Scene): string =>
  scene.random.pick(scene.tokens.filter((token) => isAdopted(scene, token)))
const actor = ({ random, seed }: Scene): string => random.pick(actorsOf(seed))

/** What an account may spend of a token: of pathUSD, enough is left for the fees of any market. */
const spendable = ({ ledger }: Scene, token: string, account: string): bigint =>
  (ledger.balances.get(keyOf(token, account)) ?? 0n) - (token === PATH_USD ? 100n * TOKEN : 0n)

/** Part of what one of these accounts may spend of a token that was adopted; null if none has anything to speak of. */
function holding(scene: Scene, accounts: readonly string[] = actorsOf(scene.seed)): Holding | null {
  const held = scene.tokens
    .filter((token) => isAdopted(scene, token))
    .flatMap((token) => accounts.map((account) => ({ token, account, amount: spendable(scene, token, account) })))
    .filter(({ amount }) => amount >= SMALLEST)
  if (held.length === 0) return null
  const one = scene.random.pick(held)
  return { ...one, amount: amountOf(scene, one.amount) }
}

function given(scene: Scene, make: (held: Holding, to: string) => Action): Action[] {
  const held = holding(scene)
  return held === null ? [] : [make(held, actor(scene))]
}

function withChannel(scene: Scene, make: (channel: Channel) => Action | null): Action[] {
  const { channels } = scene.ledger
  const action = channels.length === 0 ? null : make(scene.random.pick(channels))
  return action === null ? [] : [action]
}

const idOf = ({ seed, ledger }: Scene, text: string) => keccak256(toHex(`${text} ${seed} ${ledger.steps}`))

/** Events that move nothing: of contracts that T4 does not have, of policies, and those that are rare on the local chain. */
function told(scene: Scene): BareLog[] {
  const [account, other] = actorsOf(scene.seed)
  const token = adoptedToken(scene)
  const policyId = 2n ** 40n + BigInt(scene.ledger.steps)
  const hash = idOf(scene, 'told')
  const { tip403Registry: registry } = Addresses
  const args: Record<string, unknown> = {
    ...{ updater: account, newLogoURI: `data:,${policyId}`, account, senderPolicyId: policyId, tokenFilterId: 1n },
    ...{ recoveryAuthority: other, policyId, policyType: 1, admin: account, allowed: true, restricted: false },
    ...{ creator: account, recipientPolicyId: 1n, mintRecipientPolicyId: 0n, publicKey: other, signatureType: 0 },
    ...{ expiry: 2n, nonceKey: 7n, newNonce: 2n ** 64n - 1n, masterId: account.slice(0, 10), masterAddress: account },
    ...{ zoneId: 7, portal: PORTAL, initialToken: token, accessMode: true, gatewayMode: false, sequencers: [account] },
    ...{
      threshold: 1,
      verifier: account,
      witness: hash,
      token: PATH_USD,
      amount: DISTRIBUTED,
      remainingLimit: 1n,
      newLimit: 6n,
    },
  }
  const [quoted, quote] = scene.random.pick([...scene.quotes])
  const pool = { userToken: quoted, validatorToken: PATH_USD, swapper: account, to: account, sender: account }
  const none = { amountIn: 0n, amountOut: 0n, amountUserToken: 0n, amountValidatorToken: 0n, liquidity: 0n }
  Object.assign(args, pool, none, { validator: account, nextQuoteToken: quote, newQuoteToken: quote })
  Object.assign(args, { role: BURN_AT, newAdminRole: BURN_BLOCKED, sender: account })
  const events = [
    ['tip20', 'LogoURIUpdated', token],
    ['tip20', 'RoleAdminUpdated', token],
    ['tip20', 'NextQuoteTokenSet', quoted],
    ['tip20', 'QuoteTokenUpdate', quoted],
    ['feeManager', 'ValidatorTokenSet', FEE_MANAGER],
    ['feeManager', 'FeesDistributed', FEE_MANAGER],
    ['feeAmm', 'Burn', FEE_MANAGER],
    ['feeAmm', 'RebalanceSwap', FEE_MANAGER],
    ['tip403Registry', 'ReceivePolicyUpdated', registry],
    ['tip403Registry', 'PolicyCreated', registry],
    ['tip403Registry', 'PolicyAdminUpdated', registry],
    ['tip403Registry', 'WhitelistUpdated', registry],
    ['tip403Registry', 'BlacklistUpdated', registry],
    ['tip403Registry', 'CompoundPolicyCreated', registry],
    ['zoneFactory', 'ZoneCreated', Addresses.zoneFactory],
    ['addressRegistry', 'MasterRegistered', Addresses.addressRegistry],
    ['nonce', 'NonceIncremented', Addresses.nonceManager],
    ['accountKeychain', 'KeyAuthorized', Addresses.accountKeychain],
    ['accountKeychain', 'SpendingLimitUpdated', Addresses.accountKeychain],
    ['accountKeychain', 'AccessKeySpend', Addresses.accountKeychain],
  ] as const
  return events.map(([contract, name, address]) => {
    const { topics, data } = encodedLog(contract, name, address.toLowerCase(), args)
    return { address: address.toLowerCase(), topics, data }
  })
}

/** What may happen: the actions of one transaction, none if it cannot happen yet. */
const DEEDS: Record<string, (scene: Scene) => Action[]> = {
  adopt: (scene) => {
    const others = scene.tokens.filter((token) => !isAdopted(scene, token))
    return others.length === 0 ? [] : adoption(scene, scene.random.pick(others))
  },
  mint: (scene) => {
    const amount = BigInt(scene.random.int(100, 5_000)) * TOKEN + 1n
    return [{ kind: 'mint', token: adoptedToken(scene), to: actor(scene), via: null, amount }]
  },
  mintVirtual: (scene) => {
    const to = actor(scene)
    return [{ kind: 'mint', token: adoptedToken(scene), to, via: virtualOf(to), amount: 300n * TOKEN }]
  },
  transfer: (scene) =>
    given(scene, ({ account: from, ...held }, to) => ({ kind: 'transfer', ...held, from, to, via: null })),
  transferVirtual: (scene) =>
    given(scene, ({ account: from, ...held }, to) => ({ kind: 'transfer', ...held, from, to, via: virtualOf(to) })),
  burn: (scene) => given(scene, ({ account: from, ...held }) => ({ kind: 'burn', ...held, from })),
  burnBlocked: (scene) => given(scene, ({ account: from, ...held }) => ({ kind: 'burn_blocked', ...held, from })),
  burnAt: (scene) =>
    given(scene, ({ account: from, ...held }) => ({ kind: 'burn_at', burner: bridgeOf(scene.seed), ...held, from })),
  burnNothing: (scene) =>
    given(scene, ({ account: from, token }) => {
      return { kind: 'burn_at', burner: bridgeOf(scene.seed), token, from, amount: 0n }
    }),
  hold: (scene) =>
    given(scene, ({ account: from, ...held }, to) => {
      return { kind: 'hold', hold: { ...held, from, to, nonce: BigInt(scene.ledger.steps) + 1n } }
    }),
  claim: ({ ledger, random }) =>
    ledger.holds.length === 0 ? [] : [{ kind: 'claim', hold: random.pick(ledger.holds) }],
  burnReceipt: ({ ledger, random, seed }) =>
    ledger.holds.length === 0
      ? []
      : [{ kind: 'burn_receipt', hold: random.pick(ledger.holds), caller: actorsOf(seed)[1] }],
  open: (scene) =>
    given(scene, ({ account: payer, token, amount }, payee) => {
      const channel = { id: idOf(scene, 'channel'), token, payer, payee, deposit: 0n, settled: 0n }
      return { kind: 'open', channel, amount }
    }),
  topUp: (scene) =>
    withChannel(scene, (channel) => {
      const balance = spendable(scene, channel.token, channel.payer)
      return balance < SMALLEST ? null : { kind: 'top_up', channel, amount: amountOf(scene, balance) }
    }),
  settle: (scene) =>
    withChannel(scene, (channel) => {
      const left = channel.deposit - channel.settled
      return left < SMALLEST ? null : { kind: 'settle', channel, amount: amountOf(scene, left) }
    }),
  requestClose: (scene) => withChannel(scene, (channel) => ({ kind: 'request_close', channel })),
  cancelClose: (scene) => withChannel(scene, (channel) => ({ kind: 'cancel_close', channel })),
  close: (scene) => withChannel(scene, (channel) => ({ kind: 'close', channel })),
  sent: (scene) => given(scene, (held) => ({ kind: 'sent', bridge: bridgeOf(scene.seed), ...held })),
  received: (scene) => {
    const amount = BigInt(scene.random.int(1, 900)) * TOKEN
    const [bridge, token] = [bridgeOf(scene.seed), adoptedToken(scene)]
    return [{ kind: 'received', bridge, token, account: actor(scene), amount }]
  },
  ...zoneDeeds(),
  revoke: (scene) => {
    const held = { kind: 'role', token: adoptedToken(scene), role: BURN_AT, account: bridgeOf(scene.seed) } as const
    const other = { ...held, account: actor(scene), granted: true }
    return [{ ...held, granted: false }, { ...held, granted: true }, other]
  },
  told: (scene) => {
    const validator = { from: FEE_MANAGER, to: actorsOf(scene.seed)[0], via: null }
    const paid: Action = { kind: 'transfer', token: PATH_USD, ...validator, amount: DISTRIBUTED }
    return [paid, { kind: 'told', logs: told(scene) }]
  },
}

function zoneDeeds(): Record<string, (scene: Scene) => Action[]> {
  const deposit = (scene: Scene): Action[] => given(scene, (held) => ({ kind: 'zone', event: 'DepositMade', ...held }))
  const back =
    (event: 'WithdrawalProcessed' | 'DepositBounceBack' | 'RefundClaimed') =>
    (scene: Scene): Action[] => {
      const held = holding(scene, [PORTAL])
      return held === null ? [] : [{ kind: 'zone', event, ...held, account: actor(scene) }]
    }
  return {
    deposit,
    withdraw: back('WithdrawalProcessed'),
    bounce: back('DepositBounceBack'),
    refund: back('RefundClaimed'),
  }
}

/** Every deed once, each after those that it needs; then any of them. */
const SCRIPT = (
  'adopt mint mint mint adopt mint mint told transfer transferVirtual mintVirtual hold claim hold burnReceipt burn ' +
  'burnBlocked burnAt burnNothing open topUp settle requestClose cancelClose close open received sent deposit withdraw ' +
  'deposit bounce deposit refund revoke told'
).split(' ')

/** One transaction of an actor. */
export type Deed = { from: string; actions: Action[] }

/** The first block's transaction: the actors get what they pay fees with. */
const funding = (scene: Scene): Action[] => [
  ...adoption(scene, PATH_USD),
  ...actorsOf(scene.seed).map(
    (to): Action => ({ kind: 'mint', token: PATH_USD, to, via: null, amount: 10_000n * TOKEN }),
  ),
]

/**
 * What the actors of a seed do in a block, a function of its number and what they did before: every deed in the first blocks
 * once, then any. `quotes` has the quote token of every token that was made.
 */
export function deedsOf(seed: number, block: number, before: Ledger, quotes: Scene['quotes']): Deed[] {
  const tokens = [PATH_USD, ...quotes.keys()]
  const random = randomFor(seed, 't12', block)
  if (block === 1)
    return [{ from: actorsOf(seed)[0], actions: funding({ seed, random, ledger: before, tokens, quotes }) }]
  const deeds: Deed[] = []
  let ledger = before
  for (let left = random.int(0, 3); left > 0; left--) {
    const scene = { seed, random, ledger, tokens, quotes }
    const name = SCRIPT[ledger.deeds - 1] ?? random.pick(Object.keys(DEEDS))
    const actions = DEEDS[name]?.(scene) ?? []
    if (actions.length === 0 && SCRIPT[ledger.deeds - 1]) throw new Error(`${name} is not possible in block ${block}`)
    ledger = { ...actions.reduce(after, ledger), deeds: ledger.deeds + 1 }
    if (actions.length > 0) deeds.push({ from: actor(scene), actions })
  }
  return deeds
}
