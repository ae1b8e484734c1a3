import { deviationOf } from '../../board/stables.js'
import { samples } from '../../live/live.js'
import { ageText, bpsText, shortText, timeText, tokensOf } from '../../parts/figures.js'
import { labelsOf, plainText, shortAddress } from '../../parts/names.js'
import { ticking } from '../../state/clock.js'
import { place } from '../../state/location.js'
import { Lacking } from '../parts/block.js'
import { Facts } from '../parts/facts.js'
import { secondsOf } from './breaks.js'
import type { Detail } from './detail.js'

const LONGEST_NAME = 60

/** `sampled_at` is of the shape 2026-07-01 12:00:00+00. */
const sampledAt = (text: string): number => secondsOf(`${text.slice(0, 19).replace(' ', 'T')}Z`)

/** The middle of bid and ask where both exist, else the bid; null without a quote. */
type Now = { price: number | null; at: number }

/** The newest of what the answer and the stream know; in the past, only of the answer. */
function newestOf({ address, peg, quote }: Detail): Now | null {
  const known: Now | null = peg && {
    price: quote?.quoted ? (peg.mid_price ?? peg.price) : null,
    at: sampledAt(peg.sampled_at),
  }
  const live = place.value.asOf === null ? samples.value.get(address) : undefined
  if (!live || (known && known.at > live.at)) return known
  return { price: live.mid_price ?? live.price_vs_refusd, at: live.at }
}

function Price({ detail }: { detail: Detail }) {
  const { quote } = detail
  const newest = newestOf(detail)
  if (quote === null && newest === null) return <p class="price">Not measured</p>
  if (newest?.price === null || newest === null)
    return (
      <p class="price">
        No quote
        {quote?.unquoted_since && <span class="since"> since {timeText(secondsOf(quote.unquoted_since))}</span>}
      </p>
    )
  const age = Math.max(0, (place.value.asOf ?? ticking.value) - newest.at)
  return (
    <p class="price">
      {bpsText(deviationOf(newest.price))} bps
      <span class="since">
        {' '}
        {newest.price.toFixed(6)} pathUSD, sampled {ageText(age)} {place.value.asOf === null ? 'ago' : 'before'}
      </span>
    </p>
  )
}

/** A figure of the newest price while there is a quote; why there is none otherwise. */
function quotedText({ peg, quote }: Detail, textOf: (peg: NonNullable<Detail['peg']>) => string): string {
  if (quote === null) return 'not measured'
  if (quote.quoted === null) return 'not known'
  return quote.quoted && peg ? textOf(peg) : 'no quote'
}

/** What the stable is called: as it says itself, without what could mislead. */
export const nameOf = ({ address, symbol }: { address: string; symbol: string }): string =>
  labelsOf([{ address, symbol }]).get(address)?.text ?? shortAddress(address)

/** The name of a stable, its price and what is known of it at a glance. */
export function StableHead({ detail }: { detail: Detail }) {
  const { address, name, supply, policy, open_break, risk_score, max_deviation_24h_bps, coverage } = detail
  return (
    <div class="stable-head">
      <div class="title">
        <h1>
          <bdi>{nameOf(detail)}</bdi>
        </h1>
        <p class="name">
          <bdi>{plainText(name, LONGEST_NAME)}</bdi> <code class="address">{address}</code>
        </p>
      </div>
      <Price detail={detail} />
      {open_break && (
        <p class="open-break">
          {open_break.severity === 'severe' ? 'Severe' : 'Mild'} break since{' '}
          {timeText(secondsOf(open_break.started_at))}
        </p>
      )}
      <Facts
        facts={[
          [
            'Farthest in 24 h',
            typeof max_deviation_24h_bps === 'number' ? `${max_deviation_24h_bps} bps` : 'not measured',
          ],
          ['Sells for', quotedText(detail, ({ price }) => `${price} pathUSD`)],
          ['Bid to ask', quotedText(detail, ({ bid_ask_bps: bps }) => (bps === null ? 'nobody sells' : `${bps} bps`))],
          ['Risk', typeof risk_score === 'number' ? risk_score.toFixed(1) : 'not measured'],
          ['Supply', supply ? shortText(tokensOf(supply.current)) : 'not read'],
          ['Cap', supply?.cap ? shortText(tokensOf(supply.cap)) : supply ? 'none' : 'not read'],
          ['Transfers', policy ? (policy.paused ? 'paused' : policy.type.replaceAll('_', ' ')) : 'not read'],
          ['Tier', detail.tier],
          ['Currency', plainText(detail.currency, 12)],
        ]}
      />
      <Lacking coverage={coverage} />
    </div>
  )
}
