import { useComputed, useSignal } from '@preact/signals'
import { API, withQuery } from '../../api/paths.js'
import { shortText, timeText, tokensOf, tokensText } from '../../parts/figures.js'
import { shortAddress } from '../../parts/names.js'
import { SaveMenu } from '../../parts/save-menu.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { Lacking } from '../parts/block.js'
import { Plot } from '../parts/plot.js'
import { Behind, Table } from '../parts/tables.js'
import { secondsOf } from './breaks.js'
import type { Detail } from './detail.js'
import type { About } from './files.js'
import { useSpan } from './range.js'
import { type Bucket, changesPicture, type SupplyAnswer, supplyPicture } from './supply-picture.js'

const SUPPLY_HEIGHT = 160
const CHANGES_HEIGHT = 110
/** More than the buckets of any range. */
const MOST_BUCKETS = 1000

/** For the table, in which nothing is rounded. */
const exactText = (raw: string | null): string => (raw === null ? '–' : tokensText(raw))
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
            exactText(supply),
            cap === null ? 'none' : exactText(cap),
            exactText(minted),
            exactText(burned),
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
export function SupplyBlock({ about, detail }: { about: About; detail: Detail | null }) {
  const { from, to, name } = useSpan()
  const path = withQuery(`${API}/stablecoins/${about.address}/supply/series`, {
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
        const shown = pictures.value
        if (!last || !shown) return <Lacking coverage={{ ...coverage, status: 'partial' }} />
        const text = `${timeText(secondsOf(last.bucket_end))}: ${amountText(last.supply)} tokens, ${amountText(last.minted)} minted, ${amountText(last.burned)} burned in this bucket`
        return (
          <>
            <SaveMenu of="supply" load={async () => (await import('./files.js')).supplyFile(about, data, shown)} />
            <p class="readout-line">{text}</p>
            <Plot label={`Supply over time. ${text}.`} height={SUPPLY_HEIGHT} plotted={shown.supply} look={look} />
            {data.every(({ minted, burned }) => minted === '0' && burned === '0') ? (
              <p class="empty">Nothing was minted or burned in this range.</p>
            ) : (
              <>
                <Plot
                  label={`Mints and burns over time. ${text}.`}
                  height={CHANGES_HEIGHT}
                  plotted={shown.changes}
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
              </>
            )}
            <Lacking coverage={coverage} />
            <Behind>{() => <SupplyTable data={data} />}</Behind>
            {detail && <Changes events={detail.recent_supply_events} />}
          </>
        )
      }}
    </Shown>
  )
}
