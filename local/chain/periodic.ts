import { type Account, accounts } from './accounts.js'
import { call, POLICY_ID, role } from './calls.js'
import { CELLS_PER_ROUND, SETUP } from './clock.js'
import type { Intent } from './intent.js'
import type { MarketPlan } from './plan.js'
import { PATH_USD, type PlannedStable } from './stables.js'

const TOKEN = 10n ** 6n

/** Pays fees in a stable other than pathUSD at times. */
const FEE_CHOOSER = accounts.traders[5]

/**
 * Transactions besides trade: rewards, fees, roles and policies, in the first block of a cell, which is always calm.
 * Each kind occurs at least once in a round, so that every event of these contracts is on the chain within two hours.
 */
export function periodicIntents(plan: MarketPlan, block: number): Intent[] {
  if (block === SETUP.books) return preparationIntents(plan)
  const cell = plan.cellAt(block)
  if (!cell || cell.from !== block) return []
  const round = Math.floor(cell.index / CELLS_PER_ROUND)
  const isEven = round % 2 === 0
  const intents: Intent[] = []
  const add = (label: string, from: Account, ...calls: Intent['calls']): number => intents.push({ label, from, calls })
  const sponsor = rewardStable(plan)
  const feeStable = plan.stable(feeChoice(plan))
  switch (cell.index % CELLS_PER_ROUND) {
    case 1:
      add(
        `distribute rewards of ${sponsor.symbol}`,
        accounts.issuer,
        call.distributeReward(sponsor.address, 500n * TOKEN),
      )
      break
    case 3:
      add(`claim rewards of ${sponsor.symbol}`, accounts.traders[0], call.claimRewards(sponsor.address))
      break
    case 5:
      add('choose a fee token', FEE_CHOOSER, call.setUserToken(isEven ? PATH_USD.address : feeStable.address))
      break
    case 7:
      add(
        'restrict or free an account',
        accounts.compliance,
        call.restrict(POLICY_ID.sanctions, accounts.suspect.address, isEven),
      )
      break
    case 9: {
      const change = isEven ? call.grantRole : call.revokeRole
      add('grant or revoke a role', accounts.issuer, change(sponsor.address, role.pause, accounts.compliance.address))
      break
    }
    case 11:
      add('distribute fees', accounts.issuer, call.distributeFees(accounts.validator.address, PATH_USD.address))
      break
  }
  return intents
}

/** The stable whose holders earn rewards. */
function rewardStable(plan: MarketPlan): PlannedStable {
  const found = plan.stables.find((s) => s.rewards)
  if (!found) throw new Error('the plan has no stable with rewards')
  return found
}

/** The symbol of the stable that fees can be paid in besides pathUSD: the first that the market creates. */
const feeChoice = (plan: MarketPlan): string => plan.stables[0]?.symbol ?? PATH_USD.symbol

function preparationIntents(plan: MarketPlan): Intent[] {
  const { address, symbol } = rewardStable(plan)
  const feeStable = plan.stable(feeChoice(plan))
  const [own, other, redirecting] = accounts.traders
  return [
    { label: `earn rewards of ${symbol}`, from: own, calls: [call.setRewardRecipient(address, own.address)] },
    { label: `earn rewards of ${symbol}`, from: other, calls: [call.setRewardRecipient(address, other.address)] },
    {
      label: `redirect rewards of ${symbol}`,
      from: redirecting,
      calls: [call.setRewardRecipient(address, own.address)],
    },
    // Without liquidity to convert the fee into the validator's token, the node silently drops the transaction.
    {
      label: `fee liquidity for ${feeStable.symbol}`,
      from: accounts.issuer,
      calls: [call.addFeeLiquidity(feeStable.address, PATH_USD.address, 100_000n * TOKEN, accounts.issuer.address)],
    },
    { label: 'choose a fee token', from: FEE_CHOOSER, calls: [call.setUserToken(feeStable.address)] },
  ]
}
