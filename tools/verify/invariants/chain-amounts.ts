import type { ClickHouseClient } from '@clickhouse/client'
import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import { firstBlockAfter } from '../../../clickhouse/chain/blocks.js'
import { feeManagerChanges } from '../../../clickhouse/fees/fees.js'
import type { Stablecoin } from '../../../clickhouse/stablecoins/stablecoins.js'
import { mintedSupply } from '../../../clickhouse/supply/supply.js'
import { TIP20 } from '../../../ingest/chain/abis.js'
import { FEE_MANAGER } from '../../../ingest/chain/addresses.js'
import { RpcAnswerError } from '../../../ingest/chain/rpc-answers.js'
import { type BlockId, runCalls } from '../../../ingest/sources/multicall.js'
import type { Rpc } from '../../../ingest/sources/rpc.js'
import { StateUnavailableError } from '../../../ingest/sources/state-unavailable.js'
import { compared, type Finding, notChecked } from '../finding.js'

type Read = { functionName: 'totalSupply'; args: readonly [] } | { functionName: 'balanceOf'; args: readonly [Hex] }

/** One number per token at the end of a block, read from the node: its total supply, or an account's balance. */
async function readAmounts(
  rpc: Rpc,
  tokens: readonly string[],
  read: Read,
  block: BlockId,
): Promise<Map<string, bigint>> {
  const callData = encodeFunctionData({ abi: TIP20, ...read } as never)
  const results = await rpc.persist(`read ${read.functionName}`, () =>
    runCalls(
      rpc,
      tokens.map((target) => ({ target, callData })),
      block,
    ),
  )
  return new Map(
    tokens.map((token, i) => {
      const result = results[i]
      if (!result?.success) throw new RpcAnswerError(`${read.functionName} of ${token} failed`)
      const { functionName } = read
      return [token, decodeFunctionResult({ abi: TIP20, functionName, data: result.returnData }) as bigint]
    }),
  )
}

/** The balance of each account at the end of a block, read from the node. */
export async function readBalances(
  rpc: Rpc,
  accounts: readonly { stable: string; account: string }[],
  block: BlockId,
): Promise<bigint[]> {
  const functionName = 'balanceOf'
  const calls = accounts.map(({ stable, account }) => ({
    target: stable,
    callData: encodeFunctionData({ abi: TIP20, functionName, args: [account as Hex] }),
  }))
  const results = await rpc.persist('read balances', () => runCalls(rpc, calls, block))
  return results.map((result, i) => {
    if (!result.success) throw new RpcAnswerError(`${functionName} of ${accounts[i]?.stable} failed`)
    return decodeFunctionResult({ abi: TIP20, functionName, data: result.returnData }) as bigint
  })
}

/** What is compared with the chain: in each range, the blocks after its first one, up to its last one. */
type ChainAmounts = {
  clickhouse: ClickHouseClient
  rpc: Rpc
  /** All stables that exist at the end of the last range. */
  stables: readonly Stablecoin[]
  ranges: ReadonlyArray<{ first: BlockId & { time: number }; last: BlockId }>
}

type Changes = (range: { after: number; to: number }) => Promise<Array<{ stable: string; change_raw: string }>>

/** The stables for which the sum of a range's facts differs from the change of the amount on the chain. */
async function differencesIn(
  { rpc, stables }: ChainAmounts,
  { first, last }: ChainAmounts['ranges'][number],
  read: Read,
  changes: Changes,
): Promise<string[]> {
  const existing = (block: BlockId): string[] =>
    stables.filter(({ block_number }) => block_number <= block.number).map(({ stable }) => stable)
  const facts = await changes({ after: first.number, to: last.number })
  const byFacts = new Map(facts.map(({ stable, change_raw }) => [stable, BigInt(change_raw)]))
  // A stable that did not exist at the beginning had 0.
  const [before, after] = await Promise.all([
    readAmounts(rpc, existing(first), read, first),
    readAmounts(rpc, existing(last), read, last),
  ])
  const unknown = [...byFacts.keys()].filter((stable) => !after.has(stable))
  const differences = existing(last).flatMap((stable) => {
    const change = (after.get(stable) ?? 0n) - (before.get(stable) ?? 0n)
    const sum = byFacts.get(stable) ?? 0n
    return sum === change
      ? []
      : [`${stable}, blocks ${first.number + 1} to ${last.number}: the facts add up to ${sum}, the chain has ${change}`]
  })
  return [...unknown.map((stable) => `${stable} is not a known stable`), ...differences]
}

/** Compares the sum of the facts with the chain, for each stable and range. */
async function checkAmounts(what: string, amounts: ChainAmounts, read: Read, changes: Changes): Promise<Finding> {
  const { ranges, stables } = amounts
  const differences: string[] = []
  let unavailable = ''
  let done = 0
  for (const range of ranges) {
    try {
      differences.push(...(await differencesIn(amounts, range, read, changes)))
      done++
    } catch (error) {
      if (!(error instanceof StateUnavailableError)) throw error
      unavailable = error.message
    }
  }
  if (done === 0) return notChecked(what, unavailable || 'no blocks are stored')
  const blocks = ranges.map(({ first, last }) => `${first.number + 1} to ${last.number}`).join(', ')
  const scope = `${stables.length} stables, blocks ${blocks}`
  return compared(
    what,
    unavailable ? `${scope}, without ${ranges.length - done} ranges: ${unavailable}` : scope,
    differences,
  )
}

/** Compares each stable's mints minus burns with the change of its supply. */
export const checkSupply = (amounts: ChainAmounts): Promise<Finding> =>
  checkAmounts('mints minus burns = supply', amounts, { functionName: 'totalSupply', args: [] }, (range) =>
    mintedSupply(amounts.clickhouse, range),
  )

const FEES = 'fees = what the fee manager holds'

/**
 * Compares fees received, fees distributed and pool changes with the fee manager's balance of each stable. Of blocks up to
 * `letGoUntil`, in unix seconds, the fees received are not kept: a range is compared from the first block after it.
 */
export async function checkFees(amounts: ChainAmounts, letGoUntil: number): Promise<Finding> {
  const ranges: Array<ChainAmounts['ranges'][number]> = []
  for (const range of amounts.ranges) {
    const first =
      range.first.time > letGoUntil ? range.first : await firstBlockAfter(amounts.clickhouse, { time: letGoUntil })
    if (first && first.number < range.last.number) ranges.push({ ...range, first })
  }
  if (ranges.length === 0 && amounts.ranges.length > 0)
    return notChecked(FEES, 'the fees of all blocks were let go by RETAIN_FEES_PAID_DAYS')
  const read: Read = { functionName: 'balanceOf', args: [FEE_MANAGER] }
  return checkAmounts(FEES, { ...amounts, ranges }, read, (range) => feeManagerChanges(amounts.clickhouse, range))
}
