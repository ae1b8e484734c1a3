import type { DexFill, PegSample } from './facts.js'
import { heldIn } from './held.js'
import { WINDOW_SECONDS } from './peg-windows.js'

const REFERENCE = '0x20c0000000000000000000000000000000000000'
const LONGEST_HOLD = 120

/** To 8 decimals, halves up. */
const eightDecimals = (numerator: bigint, denominator: bigint): number =>
  Number((2n * 10n ** 8n * numerator + denominator) / (2n * denominator)) / 1e8

/** What each second of a window was worth: the price of the state that held in it, null without one. */
function timeWeighted(samples: readonly PegSample[], asOf: number, length: number) {
  const seconds = { quoted: 0, unquoted: 0 }
  const held: { heldSeconds: bigint; distance: bigint }[] = []
  let weighted = 0n
  const states = heldIn(samples, ({ block_time }) => block_time, { at: asOf, length, most: LONGEST_HOLD })
  for (const { state, seconds: heldSeconds } of states) {
    if (state.sell_micros === null) seconds.unquoted += heldSeconds
    else {
      seconds.quoted += heldSeconds
      weighted += BigInt(heldSeconds) * BigInt(state.sell_micros)
      held.push({ heldSeconds: BigInt(heldSeconds), distance: BigInt(state.sell_micros) - 1_000_000n })
    }
  }
  const n = BigInt(seconds.quoted)
  const total = held.reduce((sum, { heldSeconds, distance }) => sum + heldSeconds * distance, 0n)
  const aroundMean = held.reduce(
    (sum, { heldSeconds, distance }) => sum + heldSeconds * (n * distance - total) ** 2n,
    0n,
  )
  const aroundPeg = held.reduce((sum, { heldSeconds, distance }) => sum + heldSeconds * distance ** 2n, 0n)
  const decimals = (value: number, digits: number): number =>
    Number((Math.floor(value * 10 ** digits + 0.5) / 10 ** digits).toFixed(digits))
  const sampled = seconds.quoted + seconds.unquoted
  return {
    twap: n === 0n ? null : eightDecimals(weighted, n * 10n ** 6n),
    stddev: n === 0n ? null : decimals(Math.sqrt(Number(aroundMean) / Number(n ** 3n)) / 1e6, 8),
    rms_bps: n === 0n ? null : decimals(Math.sqrt(Number(aroundPeg) / Number(n)) / 100, 4),
    unquoted_share: sampled === 0 ? null : decimals(seconds.unquoted / sampled, 6),
    quoted_seconds: seconds.quoted,
    unquoted_seconds: seconds.unquoted,
    unmeasured_seconds: length - seconds.quoted - seconds.unquoted,
  }
}

type Prices = (token: string, block: number) => number | null

/** The average over the fills of others' orders, by their size. */
function volumeWeighted(fills: readonly DexFill[], priceOf: Prices, asOf: number, length: number) {
  const trades = fills
    .filter(({ block_time, maker, taker }) => block_time > asOf - length && block_time <= asOf && maker !== taker)
    .map(({ quote, block_number, base_raw, quote_raw }) => {
      const micros = quote === REFERENCE ? 1_000_000 : priceOf(quote, block_number)
      return { base: BigInt(base_raw), value: micros === null ? null : BigInt(quote_raw) * BigInt(micros) }
    })
  const valued = trades.filter(({ value }) => value !== null)
  const base = valued.reduce((sum, trade) => sum + trade.base, 0n)
  const value = valued.reduce((sum, trade) => sum + (trade.value as bigint), 0n)
  const micros = `${value / 10n ** 6n}`.padStart(7, '0')
  return {
    vwap: valued.length === 0 ? null : eightDecimals(value, base * 10n ** 6n),
    trade_count: valued.length,
    unvalued_trade_count: trades.length - valued.length,
    volume_tokens: Number(base) / 1e6,
    volume_usd: `${micros.slice(0, -6)}.${micros.slice(-6)}`,
  }
}

/**
 * The averages of a stable as of an instant: `samples` are its own and `fills` those on its book, in chain order; `priceOf` is the
 * price of any token in a block, in millionths.
 */
export const averagesAt = (samples: readonly PegSample[], fills: readonly DexFill[], priceOf: Prices, asOf: number) =>
  Object.entries(WINDOW_SECONDS).map(([window, length]) => ({
    window,
    ...timeWeighted(samples, asOf, length),
    ...volumeWeighted(fills, priceOf, asOf, length),
  }))
