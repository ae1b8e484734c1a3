import { useComputed, useSignal } from '@preact/signals'
import { API, withQuery } from '../../api/paths.js'
import { shortText, timeText, tokensOf } from '../../parts/figures.js'
import { shortAddress } from '../../parts/names.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { type Coverage, Lacking } from '../parts/block.js'
import { Plot } from '../parts/plot.js'
import type { Plotted } from '../parts/plot-picture.js'
import { Behind, Table } from '../parts/tables.js'
import { secondsOf } from './breaks.js'
import type { Detail } from './detail.js'
import { useSpan } from './range.js'

type Bucket = {
  bucket_start: string
  bucket_end: string
  supply: string | null
  cap: string | null
  minted: string
  burned: string
}
/** GET /stablecoins/{address}/supply/series. Amounts are base units. */
type SupplyAnswer = { data: readonly Bucket[]; coverage: Coverage }

const SUPPLY_HEIGHT = 160
const CHANGES_HEIGHT = 110
/** More than the buckets of any range. */
const MOST_BUCKETS = 1000

function supplyPicture(data: readonly Bucket[], from: number, to: number): Plotted {
  const line = data.map(({ supply }) => (supply === null ? null : tokensOf(supply)))
  const known = line.filter((supply) => supply !== null)
  const [least, most] = known.length === 0 ? [0, 1] : [Math.min(...known), Math.max(...known)]
  // A little room, so that a supply that does not change is a line in the middle.
  const room = Math.max((most - least) * 0.15, most * 0.001, 1e-6)
  return {
    from,
    to,
    low: least - room,
    high: most + room,
    times: data.map(({ bucket_end }) => secondsOf(bucket_end)),
    line,
    left: shortText,
  }
}

/** What was minted upwards and what was burned downwards. */
function changesPicture(data: readonly Bucket[], from: number, to: number): Plotted {
  const most = Math.max(1, ...data.flatMap(({ minted, burned }) => [tokensOf(minted), tokensOf(burned)]))
  return {
    from,
    to,
    low: -1.1 * most,
    high: 1.1 * most,
    times: data.map(({ bucket_end }) => secondsOf(bucket_end)),
    left: (value, step) => shortText(Math.abs(value), step),
    backdrop: ({ surface, x, y, left, width }) => {
      const bars = { above: [] as number[], below: [] as number[] }
      for (const { bucket_start, bucket_end, minted, burned } of data) {
        const [start, end] = [x(secondsOf(bucket_start)), x(secondsOf(bucket_end))]
        const wide = Math.max(2, end - start - 1)
        if (minted !== '0') bars.above.push(start, y(tokensOf(minted)), wide, y(0) - y(tokensOf(minted)))
        if (burned !== '0') bars.below.push(start, y(0), wide, y(-tokensOf(burned)) - y(0))
      }
      surface.rects(bars.above, 'above')
      surface.rects(bars.below, 'below')
      surface.line(left, y(0), left + width, y(0), 'quiet', 1)
    },
  }
}

const amountText = (raw: string | null): string => (raw === null ? '–' : shortText(tokensOf(raw)))

function SupplyTable({ data }: { data: readonly Bucket[] }) {
  return (
    <Table
      caption="Supply, minted and burned by bucket, newest first, in tokens"
      columns={[
        { title: 'End of the bucket' },
        { title: 'Supply', isNumber: true },
        { title: 'Cap', isNumber: true },
        { title: 'Minted', isNumber: true },
        { title: 'Burned', isNumber: true },
      ]}
      rows={data
        .map(({ bucket_end, supply, cap, minted, burned }) => ({
          key: bucket_end,
          cells: [
            timeText(secondsOf(bucket_end)),
            amountText(supply),
            cap === null ? 'none' : amountText(cap),
            amountText(minted),
            amountText(burned),
          ],
        }))
        .reverse()}
    />
  )
}

/** The newest mints and burns. */
function Changes({ events }: { events: Detail['recent_supply_events'] }) {
  if (events.length === 0) return <p class="empty">Nothing was minted or burned lately.</p>
  return (
    <Table
      caption="The newest mints and burns"
      columns={[{ title: 'Time' }, { title: 'What' }, { title: 'Tokens', isNumber: true }, { title: 'By' }]}
      rows={events.slice(0, 10).map(({ kind, account, amount, block_number, log_index, block_timestamp }) => ({
        key: `${block_number} ${log_index}`,
        cells: [
          timeText(secondsOf(block_timestamp)),
          kind,
          amountText(amount),
          <span key="by" class="mono" title={account}>
            {shortAddress(account)}
          </span>,
        ],
      }))}
    />
  )
}

/** The supply over the range, and what was minted and burned. `detail` is null until it is known. */
export function SupplyBlock({ address, detail }: { address: string; detail: Detail | null }) {
  const { from, to, name } = useSpan()
  const path = withQuery(`${API}/stablecoins/${address}/supply/series`, {
    from,
    to,
    interval: name,
    limit: MOST_BUCKETS,
  })
  const answer = useAnswer<SupplyAnswer>(path)
  const looked = useSignal<number | null>(null)
  const pictures = useComputed(() => {
    const { data, path } = answer.value
    const asked = new URLSearchParams(path?.split('?')[1])
    const [from, to] = [Number(asked.get('from')), Number(asked.get('to'))]
    return data && { supply: supplyPicture(data.data, from, to), changes: changesPicture(data.data, from, to) }
  })
  const look = (index: number | null): void => {
    looked.value = index
  }
  return (
    <Shown answer={answer.value} what="the supply">
      {({ data, coverage }) => {
        const last = data.at(looked.value ?? -1) ?? data.at(-1)
        if (!last || !pictures.value) return <Lacking coverage={{ ...coverage, status: 'partial' }} />
        const text = `${timeText(secondsOf(last.bucket_end))}: ${amountText(last.supply)} tokens, ${amountText(last.minted)} minted, ${amountText(last.burned)} burned in this bucket`
        return (
          <>
            <p class="readout-line">{text}</p>
            <Plot
              label={`Supply over time. ${text}.`}
              height={SUPPLY_HEIGHT}
              plotted={pictures.value.supply}
              look={look}
            />
            <Plot
              label={`Mints and burns over time. ${text}.`}
              height={CHANGES_HEIGHT}
              plotted={pictures.value.changes}
              look={look}
            />
            <ul class="marks">
              <li>
                <i class="key above" /> minted
              </li>
              <li>
                <i class="key below" /> burned
              </li>
            </ul>
            <Lacking coverage={coverage} />
            <Behind>{() => <SupplyTable data={data} />}</Behind>
            {detail && <Changes events={detail.recent_supply_events} />}
          </>
        )
      }}
    </Shown>
  )
}
