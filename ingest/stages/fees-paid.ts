import type { FeePaid } from '../../clickhouse/fees/facts.js'
import { FEE_MANAGER } from '../chain/addresses.js'
import { readTransfer } from '../chain/events.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { position } from './position.js'

/**
 * The fees of a block's transactions, in their order. A fee is the last log of its transaction, also of a reverted one;
 * earlier transfers to the fee manager are not fees. `logs` are all logs of the block, in log order.
 */
export function feesPaid(block: Pick<BlockWithLogs, 'number' | 'time' | 'logs'>): FeePaid[] {
  const { logs } = block
  return logs.flatMap((log, i) => {
    if (logs[i + 1]?.transactionHash === log.transactionHash) return []
    const transfer = readTransfer(log)
    if (transfer?.to !== FEE_MANAGER) return []
    return [
      {
        stable: log.address,
        payer: transfer.from,
        amount_raw: transfer.amount.toString(),
        ...position(block, { logIndex: log.logIndex, txHash: log.transactionHash }),
      },
    ]
  })
}
