import type { ClickHouseClient } from '@clickhouse/client'
import { keccak256, numberToHex, pad, slice, stringToHex, toEventSelector } from 'viem'
import { z } from 'zod'
import { type Payee, paymentAccounts, paymentHashes } from '../../../clickhouse/payments/ledger.js'
import { Quantity } from '../../../ingest/chain/rpc-answers.js'
import { readLogs } from '../../../ingest/sources/logs.js'
import type { Rpc } from '../../../ingest/sources/rpc.js'
import { compared, type Finding } from '../finding.js'

const WHAT = 'payments = transfers to their recipient'
const TRANSFER_WITH_MEMO = toEventSelector('TransferWithMemo(address,address,uint256,bytes32)')

/** A payer may send the transfer first and present it afterwards, while the challenge is valid. */
const PRESENTED_WITHIN_SECONDS = 600

/**
 * The first bytes of the memo of every payment to a realm: keccak256("mpp")[0..4], the version,
 * keccak256(realm)[0..10].
 * https://github.com/tempoxyz/payment-auth-spec/blob/main/specs/methods/tempo/draft-tempo-charge-00.md
 */
export const memoPrefix = (realm: string): string =>
  `${slice(keccak256(stringToHex('mpp')), 0, 4)}01${slice(keccak256(stringToHex(realm)), 0, 10).slice(2)}`

type Transfer = { tx_hash: string; amount_raw: string; memo: string; block_number: number }

async function transfersTo(rpc: Rpc, { recipient, currency }: Payee, from: number, head: number): Promise<Transfer[]> {
  const filter = { address: currency, topics: [TRANSFER_WITH_MEMO, null, pad(recipient as `0x${string}`)] }
  const logs = await rpc.persist('reading payments', () => readLogs(rpc, filter, from, head))
  return logs.map(({ transactionHash, data, topics, blockNumber }) => ({
    tx_hash: transactionHash,
    amount_raw: BigInt(data).toString(),
    memo: topics[3] as string,
    block_number: blockNumber,
  }))
}

const timeOf = async (rpc: Rpc, block: number): Promise<number> => {
  const shape = z.object({ timestamp: Quantity })
  const read = () => rpc.request('eth_getBlockByNumber', [numberToHex(block), false], shape)
  return (await rpc.persist(`reading block ${block}`, read)).timestamp
}

/** The differences between the payments to an account and its transfers, and how many payments were compared. */
async function differencesOf(clickhouse: ClickHouseClient, rpc: Rpc, payee: Payee, from: number) {
  // The order of the reads matters: settled payments are on the chain when it is read next; transfers have their rows
  // when rows are read after that.
  const settled = (await paymentHashes(clickhouse, payee)).filter(({ is_settled }) => is_settled)
  const head = await rpc.persist('reading the head', () => rpc.request('eth_blockNumber', [], Quantity))
  const transfers = await transfersTo(rpc, payee, from, head)
  const recordedHashes = new Set((await paymentHashes(clickhouse, payee)).map(({ tx_hash }) => tx_hash))
  const unspent = transfers.map(({ tx_hash, amount_raw }) => `${tx_hash} ${amount_raw}`)
  const unpaid = settled.flatMap(({ challenge_id, tx_hash, amount_raw }) => {
    const i = unspent.indexOf(`${tx_hash} ${amount_raw}`)
    if (i >= 0) unspent.splice(i, 1)
    return i >= 0 ? [] : [`payment ${challenge_id}: ${tx_hash} has no transfer of ${amount_raw} for it`]
  })
  const now = await timeOf(rpc, head)
  const unrecorded: string[] = []
  for (const { tx_hash, amount_raw, memo, block_number } of transfers) {
    if (recordedHashes.has(tx_hash) || !memo.startsWith(memoPrefix(payee.realm))) continue
    if (now - (await timeOf(rpc, block_number)) < PRESENTED_WITHIN_SECONDS) continue
    unrecorded.push(`transfer of ${amount_raw} in ${tx_hash}: no request has presented it`)
  }
  return { count: settled.length, differences: [...unpaid, ...unrecorded] }
}

export type PaymentsCheck = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  /** The configured recipient with each currency; those in the ledger are checked anyway. */
  payees: readonly Payee[]
  /** The first stored block: earlier transfers are not checked. */
  fromBlock: number
}

/**
 * Every settled payment has a transfer of that amount to its recipient, which counts for one payment only, and every
 * transfer with the memo of a payment is in the ledger. A transfer that nobody presented is money that bought nothing.
 */
export async function checkPayments({ clickhouse, rpc, payees, fromBlock }: PaymentsCheck): Promise<Finding> {
  const keyOf = ({ recipient, currency, realm }: Payee) => `${recipient} ${currency} ${realm}`
  const named = [...(await paymentAccounts(clickhouse)), ...payees]
  const accounts = [...new Map(named.map((account) => [keyOf(account), account])).values()]
  const results = []
  for (const account of accounts) results.push(await differencesOf(clickhouse, rpc, account, fromBlock))
  const count = results.reduce((sum, result) => sum + result.count, 0)
  const differences = results.flatMap((result) => result.differences)
  return compared(WHAT, `${count} payments to ${accounts.length} accounts`, differences)
}
