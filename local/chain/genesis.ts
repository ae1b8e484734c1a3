import type { Address } from 'viem'
import { Addresses } from 'viem/tempo'
import { accounts } from './accounts.js'
import { ALLOW_ALL, type Call, call, POLICY_ID, role } from './calls.js'
import { SETUP } from './clock.js'
import type { Intent } from './intent.js'
import type { MarketPlan } from './plan.js'
import { PATH_USD, type PlannedStable } from './stables.js'

const MILLION = 10n ** 12n
/** Micro-units minted to the market maker of a stable, of a stable that others are quoted in, and to each trader. */
const FLOAT = { maker: 30n * MILLION, quoteMaker: 60n * MILLION, trader: 4n * MILLION } as const

/**
 * The transactions of a setup block that create stables, supply, roles, policies and approvals. The maker opens the
 * books.
 */
export function setupIntents(plan: MarketPlan, block: number): Intent[] {
  if (block === SETUP.tokens) return createTokens(plan)
  if (block === SETUP.supply) return [...plan.stables.map((s) => supplyAndRoles(plan, s)), createPolicies()]
  if (block === SETUP.approvals) return [...assignPolicies(plan), ...approvals(plan)]
  return []
}

function createTokens(plan: MarketPlan): Intent[] {
  const addressOf = (symbol: string): Address =>
    symbol === PATH_USD.symbol ? PATH_USD.address : plan.stable(symbol).address
  return plan.stables.map((s) => ({
    label: `create ${s.symbol}`,
    from: accounts.issuer,
    calls: [
      call.createToken({
        name: s.name,
        symbol: s.symbol,
        currency: s.currency,
        quote: addressOf(s.quote),
        admin: accounts.issuer.address,
        salt: s.salt,
      }),
    ],
  }))
}

function supplyAndRoles(plan: MarketPlan, s: PlannedStable): Intent {
  const isQuote = plan.stables.some((other) => other.quote === s.symbol)
  const makerFloat = isQuote ? FLOAT.quoteMaker : FLOAT.maker
  const traderFloat = FLOAT.trader * BigInt(accounts.traders.length)
  const calls: Call[] = [
    call.grantRole(s.address, role.issuer, accounts.issuer.address),
    call.grantRole(s.address, role.issuer, accounts.bridge.address),
    call.grantRole(s.address, role.pause, accounts.guardian.address),
    call.grantRole(s.address, role.unpause, accounts.guardian.address),
    call.grantRole(s.address, role.burnBlocked, accounts.compliance.address),
    ...(s.supplyCap === null ? [] : [call.setSupplyCap(s.address, s.supplyCap)]),
    call.mint(s.address, accounts.maker.address, makerFloat),
    ...accounts.traders.map((t) => call.mint(s.address, t.address, FLOAT.trader)),
    call.mint(s.address, accounts.flipMaker.address, MILLION),
    // The issuer holds the rest of the supply, and burns from it.
    call.mint(s.address, accounts.issuer.address, s.initialSupply - makerFloat - traderFloat - MILLION),
  ]
  return { label: `supply and roles of ${s.symbol}`, from: accounts.issuer, calls }
}

function createPolicies(): Intent {
  const admin = accounts.compliance.address
  const { issuer, bridge, maker, flipMaker, traders, sanctioned } = accounts
  const members = [issuer, bridge, maker, flipMaker, ...traders].map((a) => a.address)
  const calls = [
    call.createPolicy(admin, 'blacklist', [sanctioned.address]),
    call.createPolicy(admin, 'whitelist', [...members, Addresses.stablecoinDex]),
    call.createPolicy(admin, 'whitelist', [issuer.address, bridge.address]),
    call.createCompoundPolicy(POLICY_ID.sanctions, ALLOW_ALL, POLICY_ID.mintTargets),
  ]
  return { label: 'create policies', from: accounts.compliance, calls }
}

function assignPolicies(plan: MarketPlan): Intent[] {
  const ids = { blacklist: POLICY_ID.sanctions, whitelist: POLICY_ID.members, compound: POLICY_ID.compound }
  return plan.stables.flatMap((s) =>
    s.policy === 'allow_all'
      ? []
      : [
          {
            label: `policy of ${s.symbol}`,
            from: accounts.issuer,
            calls: [call.changePolicy(s.address, ids[s.policy])],
          },
        ],
  )
}

/** Allowances for the DEX, which transfers the tokens of orders and swaps. Split, as one call costs about 280 000 gas. */
function approvals(plan: MarketPlan): Intent[] {
  const tokens = [PATH_USD.address, ...plan.stables.filter((s) => s.hasPair).map((s) => s.address)]
  const holders = [accounts.maker, accounts.flipMaker, ...accounts.traders]
  const perTransaction = 30
  return holders.flatMap((from) =>
    Array.from({ length: Math.ceil(tokens.length / perTransaction) }, (_, i) => ({
      label: 'approve the DEX',
      from,
      calls: tokens.slice(i * perTransaction, (i + 1) * perTransaction).map(call.approveDex),
    })),
  )
}
