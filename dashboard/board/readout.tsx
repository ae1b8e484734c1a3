import { dayText } from '../parts/axis.js'
import { bpsText, clockText } from '../parts/figures.js'
import { shortAddress } from '../parts/names.js'
import { type Break, openAt } from './breaks.js'
import { bucketIndexAt, type Lane, laneAt, type Picture } from './picture.js'
import type { Plan, Spot } from './plan.js'

const WIDTH = 232

/** What is known about a lane at an instant, in words and numbers. */
function Known({ picture, lane, at }: { picture: Picture; lane: Lane; at: number }) {
  const known = laneAt(picture, lane, at)
  if (known.is === 'now') {
    if (known.now.is === 'quoted') return <strong>{bpsText(known.now.bps)} bps</strong>
    return <>{known.now.is === 'unquoted' ? 'No quote.' : lane.stable.coverage.message}</>
  }
  if (known.is === 'unmeasured' && !picture.hasHistory) return <>The history is not loaded.</>
  if (known.is === 'unmeasured')
    return <>{lane.now.is === 'unmeasured' ? lane.stable.coverage.message : 'Not measured.'}</>
  if (known.is === 'unquoted') return <>No quote: it could not be sold.</>
  return (
    <>
      <strong>{bpsText(known.last)} bps</strong>, from {bpsText(known.low)} to {bpsText(known.high)}
      {known.unquotedShare > 0 && <>; no quote in {Math.max(1, Math.round(known.unquotedShare * 100))} % of it</>}
    </>
  )
}

/** The bucket of an instant: 23 Nov 12:00–12:05, or the time that has no whole bucket yet. */
function bucketText(picture: Picture, at: number): string {
  const i = bucketIndexAt(picture, at)
  if (i >= picture.count) return `since ${clockText(picture.to)} UTC`
  const from = picture.from + Math.max(0, i) * picture.step
  return `${dayText(from)} ${clockText(from)}–${clockText(from + picture.step)} UTC`
}

/** When a break began: the time of day, and the day if that is before the picture. */
export const sinceText = ({ startedAt }: Break, { from }: Picture): string =>
  `since ${startedAt < from ? `${dayText(startedAt)} ` : ''}${clockText(startedAt)}`

/** The box beside what is looked at. */
export function Readout({
  plan,
  picture,
  spot,
  lane,
  isKept,
}: {
  plan: Plan
  picture: Picture
  spot: Spot
  lane: Lane
  isKept: boolean
}) {
  const head = plan.headOf(spot.lane)
  const share = (spot.at - picture.from) / (picture.end - picture.from)
  const x = plan.time.isVertical ? head.left + head.width + 8 : plan.time.left + share * plan.time.width + 12
  const y = plan.time.isVertical ? plan.time.top + share * plan.time.height : head.top + head.height + 4
  const isFlipped = x + WIDTH > plan.width
  const left = isFlipped ? (plan.time.isVertical ? head.left : x - 24) - WIDTH - 8 : x
  const open = openAt(lane.breaks, spot.at)
  return (
    <div
      class="readout"
      role={isKept ? 'status' : undefined}
      style={{ transform: `translate(${Math.max(0, left)}px, ${Math.max(0, Math.min(plan.height - 92, y - 20))}px)` }}
    >
      <p class="who">
        <bdi>{lane.label.text}</bdi> <span class="mono">{shortAddress(lane.stable.address)}</span>
      </p>
      <p>
        <Known picture={picture} lane={lane} at={spot.at} />
      </p>
      <p class="when">{bucketText(picture, spot.at)}</p>
      {open && (
        <p class="break">
          {open.severity === 'severe' ? 'Severe break' : 'Break'} {sinceText(open, picture)}
          {open.maxDeviationBps !== null && `, up to ${Math.round(open.maxDeviationBps)} bps`}
        </p>
      )}
    </div>
  )
}
