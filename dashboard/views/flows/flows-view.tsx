import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import '../parts/blocks.css'
import './flows.css'
import { API, withQuery } from '../../api/paths.js'
import { shortText } from '../../parts/figures.js'
import { labelsOf } from '../../parts/names.js'
import { SaveMenu } from '../../parts/save-menu.js'
import { Loading, Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { go, place } from '../../state/location.js'
import { Block, type Coverage, Lacking } from '../parts/block.js'
import type { Labels } from '../parts/stables.js'
import { AnomaliesBlock } from './anomalies.js'
import type { ShownFlows } from './files.js'
import { type Edge, Matrix } from './matrix.js'

type Node = { symbol: string; address: string; inbound_usd: string; outbound_usd: string }
type Flows = { window_hours: number; edges: readonly Edge[]; nodes: readonly Node[]; coverage: Coverage }

const HOURS = ['1', '6', '24'] as const
const REFRESH_SECONDS = 60

const totalOf = ({ inbound_usd, outbound_usd }: Node): number => Number(inbound_usd) + Number(outbound_usd)

/** The stables of the answer: the largest flows first. */
const orderOf = (nodes: readonly Node[]): string[] =>
  nodes.toSorted((a, b) => totalOf(b) - totalOf(a)).map(({ address }) => address)

function summaryOf({ edges, window_hours }: Flows): string {
  const total = edges.reduce((sum, { volume_usd }) => sum + Number(volume_usd), 0)
  const [largest] = edges
  if (!largest) return `Nothing flowed in ${window_hours} h.`
  return `$${shortText(total)} in ${window_hours} h, over ${edges.length} pairs of stables.`
}

const shownOf = ({ window_hours: hours, edges, nodes }: Flows, labels: Labels): ShownFlows => ({
  hours,
  edges,
  order: orderOf(nodes),
  labels,
})

/** The matrix, which can be saved. */
const Pairs = ({ shown }: { shown: ShownFlows }) => (
  <>
    <SaveMenu of="flows" load={async () => (await import('./files.js')).matrixFile(shown)} />
    <Matrix {...shown} />
  </>
)

/** The circle, which is loaded when it comes into view. */
function Ribbons({ shown }: { shown: ShownFlows }) {
  const loaded = useSignal<ComponentType<{ shown: ShownFlows }> | null>(null)
  const hasFailed = useSignal(false)
  useEffect(() => {
    import('./chord.js').then(
      ({ Chord }) => {
        loaded.value = Chord
      },
      () => {
        hasFailed.value = true
      },
    )
  }, [])
  const Chord = loaded.value
  if (Chord) return <Chord shown={shown} />
  return hasFailed.value ? <p class="empty">The picture could not be loaded.</p> : <Loading what="the picture" />
}

/** What flows between the stables, and what was unusual. */
export function FlowsView() {
  const { asOf, more } = place.value
  const hours = HOURS.find((one) => one === more.hours) ?? '24'
  const answer = useAnswer<Flows>(withQuery(`${API}/stablecoins/flows`, { hours, as_of: asOf }), {
    refreshSeconds: asOf === null ? REFRESH_SECONDS : undefined,
  })
  const labels = labelsOf(answer.value.data?.nodes ?? [])
  return (
    <>
      <h1>Flows</h1>
      <div class="controls no-print">
        <fieldset class="choice">
          <legend class="unseen">Length of the window</legend>
          {HOURS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === hours}
              onClick={() => go({ more: { ...more, hours: one } })}
            >
              {one}h
            </button>
          ))}
        </fieldset>
      </div>
      <div class="blocks">
        <Block title="Between stables">
          <Shown answer={answer.value} what="the flows">
            {(flows) => (
              <>
                <p class="readout-line">{summaryOf(flows)}</p>
                {flows.edges.length > 0 && <Pairs shown={shownOf(flows, labels)} />}
                {flows.edges.some(({ unvalued_count }) => unvalued_count > 0) && (
                  <p class="empty">* Some of it had no value in US dollars and is not in the number.</p>
                )}
                <Lacking coverage={flows.coverage} />
              </>
            )}
          </Shown>
        </Block>
        <Block title="The largest flows">
          <Shown answer={answer.value} what="the flows">
            {(flows) =>
              flows.edges.some(({ volume_usd }) => Number(volume_usd) > 0) ? (
                <Ribbons shown={shownOf(flows, labels)} />
              ) : (
                <p class="empty">Nothing with a value in US dollars flowed.</p>
              )
            }
          </Shown>
        </Block>
        <Block title="Anomalies">
          <AnomaliesBlock labels={labels} />
        </Block>
      </div>
    </>
  )
}
