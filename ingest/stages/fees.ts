import type { FactPosition } from '../../clickhouse/chain/blocks.js'
import type { FeeDistribution, FeeElection, FeePaid, FeePoolEvent } from '../../clickhouse/fees/fees.js'
import { FEE_MANAGER } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import { readTransfer } from '../chain/events.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { type EventBlock, position, rowsOf } from './rows.js'

/**
 * The fees of a block's transactions, in their order. A fee is the last log of its transaction, also of a reverted one;
 * earlier transfers to the fee manager are not fees. `logs` are all logs of the block, in log order.
 */
export function feesPaid(block: Pick<BlockWithLogs, 'number' | 'time' | 'logs'>): FeePaid[] {
  const { logs } = block
  const fees: FeePaid[] = []
  for (const [i, log] of logs.entries()) {
    if (logs[i + 1]?.transactionHash === log.transactionHash) continue
    const transfer = readTransfer(log)
    if (transfer?.to !== FEE_MANAGER) continue
    fees.push({
      stable: log.address,
      payer: transfer.from,
      amount_raw: transfer.amount.toString(),
      ...position(block, { logIndex: log.logIndex, txHash: log.transactionHash }),
    })
  }
  return fees
}

/** The elections of the stables in which fees are paid or received from then on, in log order. */
export const feeElections = (block: EventBlock, events: readonly ChainEvent[]): FeeElection[] =>
  rowsOf(block, events, (event) => {
    if (event.name === 'UserTokenSet') {
      return { kind: 'user' as const, account: event.args.user, stable: event.args.token }
    }
    if (event.name === 'ValidatorTokenSet') {
      return { kind: 'validator' as const, account: event.args.validator, stable: event.args.token }
    }
    return null
  })

/** The fees paid to validators, in log order. */
export const feeDistributions = (block: EventBlock, events: readonly ChainEvent[]): FeeDistribution[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'FeesDistributed') return null
    const { validator, token, amount } = event.args
    return { validator, stable: token, amount_raw: amount.toString() }
  })

function poolChange(event: ChainEvent): Omit<FeePoolEvent, keyof FactPosition> | null {
  switch (event.name) {
    case 'FeePoolMint': {
      const { sender, to, userToken, validatorToken, amountValidatorToken, liquidity } = event.args
      return {
        kind: 'mint',
        account: sender,
        recipient: to,
        user_token: userToken,
        validator_token: validatorToken,
        user_amount_raw: '0',
        validator_amount_raw: amountValidatorToken.toString(),
        liquidity_raw: liquidity.toString(),
      }
    }
    case 'FeePoolBurn': {
      const { sender, to, userToken, validatorToken, amountUserToken, amountValidatorToken, liquidity } = event.args
      return {
        kind: 'burn',
        account: sender,
        recipient: to,
        user_token: userToken,
        validator_token: validatorToken,
        user_amount_raw: amountUserToken.toString(),
        validator_amount_raw: amountValidatorToken.toString(),
        liquidity_raw: liquidity.toString(),
      }
    }
    case 'FeePoolRebalanceSwap': {
      const { swapper, userToken, validatorToken, amountIn, amountOut } = event.args
      return {
        kind: 'rebalance',
        account: swapper,
        recipient: null,
        user_token: userToken,
        validator_token: validatorToken,
        user_amount_raw: amountOut.toString(),
        validator_amount_raw: amountIn.toString(),
        liquidity_raw: '0',
      }
    }
    default:
      return null
  }
}

/** The changes of fee pools among a block's events, in log order. A fee that goes through a pool has no event. */
export const feePoolEvents = (block: EventBlock, events: readonly ChainEvent[]): FeePoolEvent[] =>
  rowsOf(block, events, poolChange)
