import { FEE_MANAGER } from '../../ingest/chain/addresses.js'
import type { RawLog } from '../../ingest/chain/rpc-answers.js'
import { dealingsOf } from '../../ingest/stages/parties.js'
import type { Swap } from '../../ingest/stages/swaps.js'
import { tradesOf } from '../../ingest/stages/trades.js'
import { encodedLog } from './logs.js'

/** Tokens and accounts for transactions that exist only in a test. */
export const tokens = ['0a', '0b', '0c', '0d', '0e'].map((end) => `0x20c0${'0'.repeat(34)}${end}`)
export const accountOf = (byte: string): string => `0x${byte.repeat(20)}`

export type Transfer = [token: string, from: string, to: string, amount: bigint]

/** A transaction of these transfers, with the fee that `payer` pays at its end. */
export const transaction = (
  transfers: readonly Transfer[],
  { first = 0, hash = '0xt1', payer = accountOf('ff') } = {},
): RawLog[] =>
  [...transfers, [tokens[0] as string, payer, FEE_MANAGER, 7n] satisfies Transfer].map(([token, from, to, amount], i) =>
    encodedLog('tip20', 'Transfer', token, { from, to, amount }, { logIndex: first + i, transactionHash: hash }),
  )

/** What the trades of these logs are if `signer` signed every transaction. */
export const tradesIn = (logs: readonly RawLog[], signer: string | null, swaps: readonly Swap[] = []) =>
  dealingsOf(logs, swaps).flatMap((dealings) => tradesOf(dealings, signer))
