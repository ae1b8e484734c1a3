import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals'
import { API, withQuery } from '../../api/paths.js'
import { bucketAt, type SeriesAnswer } from '../../board/series.js'
import { bpsText, timeText } from '../../parts/figures.js'
import { SaveMenu } from '../../parts/save-menu.js'
import { Shown } from '../../parts/states.js'
import { type Answered, useAnswer } from '../../state/answer.js'
import { Lacking } from '../parts/block.js'
import { Plot } from '../parts/plot.js'
import { Behind, Table } from '../parts/tables.js'
import type { PegEvents } from './breaks.js'
import type { About } from './files.js'
import { bucketsOf, type PegBuckets, pegPicture, priceText } from './peg-picture.js'
import { rangeOf, useSpan } from './range.js'

const HEIGHT = 280

/** A bucket in words. */
function bucketText({ from, step, series }: PegBuckets, i: number): string {
  const bucket = bucketAt(series, i)
  const when = timeText(from + (i + 1) * step)
  if (bucket.is !== 'quoted') return `${when}: ${bucket.is === 'unquoted' ? 'no quote' : 'not measured'}`
  const { low, high, last, unquotedShare } = bucket
  const absent = unquotedShare > 0 ? `, ${(100 * unquotedShare).toFixed(0)} % without a quote` : ''
  return `${when}: ${bpsText(last)} bps (${priceText(last)}), from ${bpsText(low)} to ${bpsText(high)}${absent}`
}

function summaryOf({ count, series }: PegBuckets): string {
  const known = (column: readonly (number | null)[]): number[] =>
    column.filter((value): value is number => value !== null)
  const [lows, highs] = [known(series.low_bps), known(series.high_bps)]
  if (lows.length === 0) {
    const isSampled = series.unquoted_share.some((share) => share !== null)
    return isSampled ? 'No quote in this range.' : 'Not measured in this range.'
  }
  return `Between ${bpsText(Math.min(...lows))} and ${bpsText(Math.max(...highs))} bps, with a quote in ${lows.length} of ${count} buckets.`
}

function PegTable({ buckets }: { buckets: PegBuckets }) {
  const rows = Array.from({ length: buckets.count }, (_, i) => {
    const bucket = bucketAt(buckets.series, i)
    const when = timeText(buckets.from + (i + 1) * buckets.step)
    if (bucket.is !== 'quoted')
      return { key: when, cells: [when, bucket.is === 'unquoted' ? 'no quote' : 'not measured', '–', '–', '–'] }
    const { low, high, last } = bucket
    return { key: when, cells: [when, bpsText(last), priceText(last), bpsText(low), bpsText(high)] }
  }).reverse()
  return (
    <Table
      caption="Distance from the peg by bucket, newest first"
      columns={[
        { title: 'End of the bucket' },
        { title: 'Last, bps', isNumber: true },
        { title: 'Price', isNumber: true },
        { title: 'Lowest, bps', isNumber: true },
        { title: 'Highest, bps', isNumber: true },
      ]}
      rows={rows}
    />
  )
}

/** Price and distance from the peg over the range, with breaks shaded. */
export function PegBlock({ about, breaks }: { about: About; breaks: ReadonlySignal<Answered<PegEvents>> }) {
  const { from, to, step, name } = useSpan()
  const answer = useAnswer<SeriesAnswer>(
    withQuery(`${API}/stablecoins/peg/series`, { stables: about.address, from, to, step: name }),
  )
  const looked = useSignal<number | null>(null)
  const buckets = useComputed(() => answer.value.data && bucketsOf(answer.value.data))
  // While another range loads, the picture is still that of the old one.
  const plotted = useComputed(() => {
    if (!buckets.value || !answer.value.path) return null
    const asked = new URLSearchParams(answer.value.path.split('?')[1])
    const span = { from: Number(asked.get('from')), to: Number(asked.get('to')) }
    return pegPicture(buckets.value, breaks.value.data?.events ?? [], span)
  })
  return (
    <Shown answer={answer.value} what="the history of the price">
      {({ coverage }) => {
        const shown = buckets.value
        const picture = plotted.value
        if (!shown || !picture) return null
        const summary = summaryOf(shown)
        return (
          <>
            <SaveMenu of="price" load={async () => (await import('./files.js')).pegFile(about, shown, picture)} />
            <p class="readout-line">
              {looked.value === null || looked.value >= shown.count ? summary : bucketText(shown, looked.value)}
            </p>
            <Plot
              label={`Distance from the peg in the last ${rangeOf()}. ${summary} The table below has the same numbers.`}
              height={HEIGHT}
              plotted={picture}
              look={(index) => {
                looked.value = index
              }}
            />
            <ul class="marks">
              <li>
                <i class="key break" /> peg break, stronger if severe
              </li>
              <li>
                <i class="key hatch" /> no quote
              </li>
              <li>
                <i class="key dots" /> not measured
              </li>
              <li>
                line: last of {step === 60 ? 'a minute' : step === 300 ? 'five minutes' : 'an hour'}; bar: all of it
              </li>
            </ul>
            <Lacking coverage={coverage} />
            <Behind>{() => <PegTable buckets={shown} />}</Behind>
          </>
        )
      }}
    </Shown>
  )
}
