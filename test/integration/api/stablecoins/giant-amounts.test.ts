import { encodeFunctionData, type Hex, parseEventLogs } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { accounts } from '../../../../local/chain/accounts.js'
import { type Call, call, role } from '../../../../local/chain/calls.js'
import { readHead } from '../../../../local/chain/head.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { PATH_USD } from '../../../../local/chain/stables.js'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import { ingestAll } from '../../../support/ingest.js'
import { type OwnChain, ownChain } from '../../../support/own-chain.js'
import { runJobs } from '../../../support/ran-slots.js'
import { mine, newToken, type Receipt } from '../../../support/transactions.js'

let chain: OwnChain
beforeAll(async () => {
  // Its own, because its clock is moved.
  chain = await ownChain({ historyBlocks: 30 })
})
afterAll(async () => {
  await chain?.remove()
})

/** All that a token can have. */
const MOST = 2n ** 128n - 1n
const ONE = 10n ** 6n
const PATH = PATH_USD.address as Hex
const BID = { amount: 100n * ONE, isBid: true, tick: 2_000 }

const tip20 = (to: Hex, functionName: 'approve' | 'transferFrom', args: readonly unknown[]): Call => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})
const swap = (tokenIn: Hex, tokenOut: Hex, amount: bigint): Call => ({
  to: Addresses.stablecoinDex as Hex,
  data: encodeFunctionData({
    abi: Abis.stablecoinDex,
    functionName: 'swapExactAmountIn',
    args: [tokenIn, tokenOut, amount, 0n],
  }),
})

type Made = { name: string; amount: bigint }

/** Everything that an account may do with all that a token can have, and the events of it as viem decodes them. */
async function makeGiants(token: Hex): Promise<Made[]> {
  const { issuer, maker } = accounts
  const [holder, other] = accounts.traders
  if (!holder || !other) throw new Error('the market has two traders')
  const receipts: Receipt[] = []
  const send = async (from: typeof issuer, ...calls: Call[]): Promise<void> => {
    const [receipt] = (await mine(chain, [{ from, calls }])) as [Receipt]
    expect(receipt.status, `transaction ${receipts.length}`).toBe('0x1')
    receipts.push(receipt)
  }
  await send(issuer, call.grantRole(token, role.issuer, issuer.address), call.mint(token, issuer.address, MOST))
  // A bid of 100 tokens at the best price that the exchange allows is enough for a price of 1.02.
  await send(maker, call.approveDex(PATH), { to: dex, data: createPair(token) }, call.place(token, BID))
  await send(other, tip20(PATH, 'approve', [issuer.address, 10n]))
  // All of it for a millionth of pathUSD, back and forth.
  await send(
    issuer,
    call.transfer(token, other.address, MOST),
    tip20(PATH, 'transferFrom', [other.address, issuer.address, 1n]),
  )
  await send(other, call.transfer(token, issuer.address, MOST), tip20(token, 'approve', [issuer.address, MOST]))
  await send(holder, tip20(token, 'approve', [issuer.address, MOST]))
  // Twice all of it from one to another, and a millionth in return.
  const pass = (from: Hex, to: Hex) => tip20(token, 'transferFrom', [from, to, MOST])
  await send(
    issuer,
    call.transfer(token, other.address, MOST),
    pass(other.address, holder.address),
    pass(holder.address, issuer.address),
    call.transfer(token, other.address, MOST),
    tip20(PATH, 'transferFrom', [other.address, issuer.address, 1n]),
  )
  await send(other, call.transfer(token, holder.address, MOST))
  await send(holder, call.transfer(token, issuer.address, MOST - 1n))
  // One base unit takes part in rewards, and is paid all of the rest, twice.
  await send(holder, call.setRewardRecipient(token, holder.address))
  for (let round = 0; round < 2; round++) {
    await send(issuer, call.distributeReward(token, MOST - 1n))
    await send(holder, call.claimRewards(token))
    await send(holder, call.transfer(token, issuer.address, MOST - 1n))
  }
  for (let round = 0; round < 3; round++) {
    await send(issuer, call.burn(token, MOST - 1n))
    await send(issuer, call.mint(token, issuer.address, MOST - 1n))
  }
  // A giant order, and dust on both sides.
  await send(
    issuer,
    call.approveDex(token),
    call.place(token, { amount: MOST - 2n ** 120n, isBid: false, tick: 2_000 }),
  )
  await send(other, call.approveDex(PATH), swap(PATH, token, 1n))
  await send(issuer, swap(token, PATH, 1n))
  await send(issuer, call.addFeeLiquidity(PATH, token, 2n ** 100n, issuer.address))
  return receipts.flatMap(({ logs }) =>
    parseEventLogs({ abi: Abis.tip20, logs: logs as never })
      .filter(({ address }: { address: string }) => address.toLowerCase() === token)
      .map(({ eventName, args }: { eventName: string; args: unknown }) => ({
        name: eventName,
        amount: (args as { amount?: bigint }).amount ?? 0n,
      })),
  )
}
const dex = Addresses.stablecoinDex as Hex
const createPair = (token: Hex): Hex =>
  encodeFunctionData({ abi: Abis.stablecoinDex, functionName: 'createPair', args: [token] })

const sumOf = (made: readonly Made[], wanted: string): bigint =>
  made.reduce((sum, { name, amount }) => (name === wanted ? sum + amount : sum), 0n)

/** Mines an hour of blocks, so that every job has a slot. Returns the newest block's time in unix seconds. */
async function anHourLater(): Promise<number> {
  const node = createRpc(chain.rpcUrl)
  for (let block = 0; block < 13; block++) {
    await node.call('evm_increaseTime', [300])
    await node.call('evm_mine')
  }
  const { number, timestamp } = await readHead(node)
  chain.head = number
  return timestamp
}

/** What a JSON number can say of an amount: the nearest double. */
const near = (raw: bigint) => {
  const tokens = Number(raw) / 1e6
  return expect.closeTo(tokens, tokens === 0 ? 0 : -Math.floor(Math.log10(tokens)) + 12)
}

test('the largest amounts that the chain allows are published exactly, by every endpoint and format', async ({
  app,
  clock,
  clickhouseEnv,
  clickhouse,
}) => {
  const { token } = await newToken(chain, 4_711, { symbol: 'GIANT' })
  const made = await makeGiants(token)
  const at = await anHourLater()
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  clock.now = new Date((at + 30) * 1000)
  await runJobs(clickhouse, ['peg-events', 'peg-tracks', 'risk', 'reserves', 'flow-anomalies'])

  const headers = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }
  const get = async (path: string) => {
    const response = await app.inject({ url: `/api/v1/${path}`, headers })
    expect(response.statusCode, `${path}: ${response.body.slice(0, 500)}`).toBe(200)
    return response
  }
  const own = `stablecoins/${token}`

  const { stablecoins } = (await get('stablecoins')).json()
  expect(stablecoins.find(({ address }: { address: string }) => address === token)).toMatchObject({
    supply: { current: `${MOST}`, cap: null },
    peg: { price: 1.02 },
  })
  const detail = (await get(own)).json()
  expect(detail.supply).toEqual({ current: `${MOST}`, cap: null })
  expect(detail.recent_supply_events.map(({ amount }: { amount: string }) => amount)).toEqual([
    ...Array(6).fill(`${MOST - 1n}`),
    `${MOST}`,
  ])

  const rewards = (await get(`${own}/rewards`)).json()
  const given = sumOf(made, 'RewardDistributed')
  expect(given).toBe(2n * (MOST - 1n))
  expect(rewards).toMatchObject({
    global_reward_per_token: `${given * 10n ** 18n}`,
    distributed: { last_24h_tokens: near(given), last_7d_tokens: near(given), all_time_tokens: near(given) },
    top_funders: [{ distribution_count: 2, total_amount_tokens: near(given) }],
  })
  expect(rewards.recent_distributions.map(({ amount_tokens }: { amount_tokens: number }) => amount_tokens)).toEqual([
    near(MOST - 1n),
    near(MOST - 1n),
  ])
  // A week's rewards for one base unit that takes part, over a year.
  expect(rewards.effective_apy_pct).toBeCloseTo(Number(given) * (365 / 7) * 100, -30)

  const reserves = (await get(`${own}/reserves`)).json()
  expect(reserves.total_backing_usd).toEqual(near((MOST * 1_020_000n) / ONE))
  expect((await get(`${own}/risk`)).json().components.supply_risk).toBe(100)
  await get(`${own}/peg`)
  await get(`${own}/depth`)
  await get(`${own}/roles`)
  await get(`${own}/analysis`)
  await get('fee-economics/overview')
  await get('stablecoins/flow-anomalies')

  const range = `from=${at - 7_200}&to=${at}`
  const { data: buckets } = (await get(`${own}/supply/series?${range}&interval=5m`)).json()
  const total = (column: string) =>
    buckets.reduce((sum: bigint, row: Record<string, string>) => sum + BigInt(row[column] as string), 0n)
  expect([total('minted'), total('burned')]).toEqual([sumOf(made, 'Mint'), sumOf(made, 'Burn')])
  expect(sumOf(made, 'Mint')).toBe(MOST + 3n * (MOST - 1n))
  expect(buckets.at(-1).supply).toBe(`${MOST}`)

  const flows = (await get(`stablecoins/flows/export?${range}`)).json().data
  const ofToken = flows.filter((row: Record<string, string>) => [row.from_address, row.to_address].includes(token))
  expect(ofToken.map(({ amount_in }: { amount_in: string }) => amount_in)).toContain(`${MOST}`)
  for (const format of ['ndjson', 'csv', 'parquet', 'arrow']) {
    const [supply, exported] = [
      await get(`${own}/supply/series?${range}&interval=5m&format=${format}`),
      await get(`stablecoins/flows/export?${range}&format=${format}`),
    ]
    if (format === 'parquet' || format === 'arrow') continue
    expect(supply.body).toContain(`${MOST}`)
    expect(exported.body).toContain(`${MOST}`)
  }

  // What the trades really moved for others: twice a millionth for all of the token, and one for a base unit of it.
  const history = (await get(`stablecoins/flows/history?${range}`)).json()
  const sold = history.edges.filter((edge: { from_address: string }) => edge.from_address === token)
  expect(
    sold.reduce((sum: number, { volume_usd }: { volume_usd: string }) => sum + Number(volume_usd), 0),
  ).toBeLessThan(0.0000031)
})
