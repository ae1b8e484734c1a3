import { pino } from 'pino'
import { createClient, decodeFunctionResult, encodeFunctionData, http, numberToHex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { allStablecoins } from '../../../../clickhouse/stablecoins/stablecoins.js'
import { randomFor } from '../../../../local/chain/random.js'
import { WINDOW_SECONDS } from '../../../../oracle/peg-windows.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'

// Ten hours at one block a minute; every 1h window has an hour of samples, the others as many as there are.
const BLOCKS = 600

const chain = useStillChain({ historyBlocks: BLOCKS, seed: 11 })

type Sample = { block: number; time: number; micros: number | null }

const ask = <Answer>(node: ReturnType<typeof createClient>, method: string, params: unknown[]): Promise<Answer> =>
  node.request({ method, params } as never)

async function blockTimes(node: ReturnType<typeof createClient>): Promise<number[]> {
  const numbers = Array.from({ length: BLOCKS + 1 }, (_, number) => number)
  const headers = await Promise.all(
    numbers.map((number) => ask<{ timestamp: string }>(node, 'eth_getBlockByNumber', [numberToHex(number), false])),
  )
  return headers.map(({ timestamp }) => Number(timestamp))
}

/** The sell quote of one token at each block, read from the node with single calls; null if the DEX refuses. */
async function quotesFromNode(
  node: ReturnType<typeof createClient>,
  stable: string,
  times: readonly number[],
): Promise<Sample[]> {
  const call = { abi: Abis.stablecoinDex, functionName: 'quoteSwapExactAmountIn' } as const
  const data = encodeFunctionData({ ...call, args: [stable as `0x${string}`, Addresses.pathUsd, 1_000_000n] })
  return Promise.all(
    times.slice(1).map(async (time, i) => {
      const params = [{ to: Addresses.stablecoinDex, data }, numberToHex(i + 1)]
      const answer = await ask<`0x${string}`>(node, 'eth_call', params).catch(() => null)
      return { block: i + 1, time, micros: answer && Number(decodeFunctionResult({ ...call, data: answer })) }
    }),
  )
}

/** To 8 decimals, halves up, from integers: `numerator` / `denominator`. */
const rounded = (numerator: bigint, denominator: bigint): number =>
  Number((200_000_000n * numerator + denominator) / (2n * denominator)) / 1e8

/** A window's figures straight from the definition, one sample after the other. */
function windowOf(samples: readonly Sample[], asOf: number, length: number) {
  const inside = samples.filter(({ time }) => time > asOf - length && time <= asOf)
  const quoted = inside.flatMap(({ micros }) => (micros === null ? [] : [BigInt(micros)]))
  const n = BigInt(quoted.length)
  const secondsOutside = (micros: number): number =>
    samples.reduce((seconds, { time, micros: price }, i) => {
      const before = samples[i - 1]
      if (time > asOf || price === null || before === undefined || Math.abs(price - 1_000_000) <= micros) return seconds
      const from = Math.max(before.time, time - 120, asOf - length)
      return seconds + Math.max(0, time - from)
    }, 0)
  const sum = quoted.reduce((total, price) => total + price, 0n)
  const squares = quoted.reduce((total, price) => total + (price - 1_000_000n) ** 2n, 0n)
  const deviations = sum - n * 1_000_000n
  const prices = quoted.map(Number)
  const measured = n > 0n
  return {
    sample_count: quoted.length,
    unquoted_count: inside.length - quoted.length,
    unquoted_share: inside.length === 0 ? null : Number((1 - quoted.length / inside.length).toFixed(6)),
    mean_price: measured ? rounded(sum, n * 1_000_000n) : null,
    stddev_price: measured
      ? Math.floor((100 * Math.sqrt(Number(n * squares - deviations ** 2n))) / Number(n) + 0.5) / 1e8
      : null,
    min_price: measured ? Math.min(...prices) / 1e6 : null,
    max_price: measured ? Math.max(...prices) / 1e6 : null,
    max_deviation_bps: measured ? Math.max(...prices.map((price) => Math.abs(price - 1_000_000))) / 100 : null,
    seconds_outside_10bps: measured ? secondsOutside(1000) : null,
    seconds_outside_50bps: measured ? secondsOutside(5000) : null,
  }
}

test('/peg equals, digit for digit, what anyone computes from the node’s quotes, and what was planned', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const node = createClient({ transport: http(chain.rpcUrl, { batch: { batchSize: 100 } }) })
  const times = await blockTimes(node)
  const [first, last] = [times[1] as number, times[BLOCKS] as number]
  const app = await buildApp({ clickhouse, now: () => new Date((last + 30) * 1000), logger: pino({ level: 'silent' }) })
  const stables = await allStablecoins(clickhouse, { before_block: BLOCKS + 1 })
  const addressOf = (symbol: string): string => stables.find((stable) => stable.symbol === symbol)?.stable ?? ''
  const hops = (symbol: string): number => chain.plan.routeToPathUsd(symbol).length
  const episodes = chain.plan.episodes(1, BLOCKS - 5)
  const isBreak = ({ kind }: { kind: string }): boolean => kind === 'mild_break' || kind === 'severe_break'

  // Two stables that break or run dry and one that is priced over three hops, and five instants each, at any second.
  const eventful = new Set(
    episodes.filter((episode) => isBreak(episode) || episode.kind === 'dry').map(({ stable }) => stable),
  )
  const farthest = chain.plan.stables.find(({ symbol, hasPair }) => hasPair && hops(symbol) >= 2)
  const symbols = [...[...eventful].slice(0, 2), farthest?.symbol ?? '']
  expect(symbols.map(addressOf).filter((address) => address !== '')).toHaveLength(3)
  for (const symbol of symbols) {
    const samples = await quotesFromNode(node, addressOf(symbol), times)
    const random = randomFor(5, 'instants', symbol.length + symbol.charCodeAt(0))
    for (const asOf of Array.from({ length: 5 }, () => random.int(first, last + 20))) {
      const response = await app.inject(`/api/v1/stablecoins/${addressOf(symbol)}/peg?as_of=${asOf}`)
      const body = response.json()
      const nearest = samples.findLast(({ time, micros }) => time <= asOf && micros !== null)
      expect(body.current?.block_number, `${symbol} at ${asOf}`).toBe(nearest?.block)
      expect(body.current?.price_vs_refusd).toBe(nearest?.micros && nearest.micros / 1e6)
      expect(body.windows).toEqual(
        Object.entries(WINDOW_SECONDS).map(([window, length]) => ({ window, ...windowOf(samples, asOf, length) })),
      )
      expect(response.headers['x-service-as-of']).toBe(body.as_of)
    }
  }

  // The plan is a second source, independent of the node and the database.
  const breaks = episodes.filter((episode) => isBreak(episode) && hops(episode.stable) === 1)
  expect(breaks.length).toBeGreaterThan(1)
  for (const { stable, toBlock } of breaks) {
    const asOf = (times[toBlock] as number) + 7
    const inWindow = times
      .map((time, block) => ({ block, time }))
      .filter(({ time, block }) => block > 0 && time > asOf - 3600 && time <= asOf)
    const planned = inWindow.map(({ block, time }) => ({
      bps: Math.abs(chain.plan.quoteAt(stable, block).deviationBps ?? 0),
      seconds: Math.min(60, time - (asOf - 3600)),
    }))
    const outside = (limit: number): number =>
      planned.filter(({ bps }) => bps > limit).reduce((sum, { seconds }) => sum + seconds, 0)
    const body = (await app.inject(`/api/v1/stablecoins/${addressOf(stable)}/peg?as_of=${asOf}`)).json()
    expect(body.windows[0]).toMatchObject({
      window: '1h',
      max_deviation_bps: Math.max(...planned.map(({ bps }) => bps)),
      seconds_outside_10bps: outside(10),
      seconds_outside_50bps: outside(50),
    })
  }
  await app.close()
})
