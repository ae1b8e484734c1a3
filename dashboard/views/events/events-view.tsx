import { useComputed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import '../parts/blocks.css'
import { API, withQuery } from '../../api/paths.js'
import { liveEvents } from '../../live/live.js'
import { timeText } from '../../parts/figures.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { go, place } from '../../state/location.js'
import { hrefOf } from '../../state/place.js'
import { type Coverage, Lacking } from '../parts/block.js'
import { labelText, useStables } from '../parts/stables.js'
import { Table } from '../parts/tables.js'
import { isShown, KINDS, kindOf, type LogEvent, merged, takenBack } from './log.js'
import { Sentence, TYPE_NAMES } from './sentence.js'

/** As many as the service gives at once. */
const MOST_EVENTS = 500
/** Around an event that a link names. */
const BEFORE = 50
const AROUND = 100
const REFRESH_SECONDS = 120
const ADDRESS = /^0x[0-9a-f]{40}$/

/** What the URL asks for. `at`: the position in the log of the event that it links to; null for the newest ones. */
function askedOf() {
  const { kind, stable, event, at } = place.value.more
  return {
    kind: kindOf(kind),
    stable: stable !== undefined && ADDRESS.test(stable) ? stable : null,
    event: event ?? null,
    at: at !== undefined && /^\d{1,12}$/.test(at) ? Number(at) : null,
  }
}

/** Puts a filter into the URL; null takes it out. What was linked to is left behind. */
function filter(name: string, value: string | null): void {
  const { [name]: _, event: __, at: ___, ...rest } = place.value.more
  go({ more: value === null ? rest : { ...rest, [name]: value } })
}

function Filters({ options }: { options: readonly (readonly [string, string])[] }) {
  const { kind, stable } = askedOf()
  const textOf = (text: string): string | null => (text === '' ? null : text)
  return (
    <div class="controls no-print">
      <label>
        Kind
        <select value={kind ?? ''} onChange={({ currentTarget }) => filter('kind', textOf(currentTarget.value))}>
          <option value="">all</option>
          {Object.keys(KINDS).map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label>
        Stable
        <select value={stable ?? ''} onChange={({ currentTarget }) => filter('stable', textOf(currentTarget.value))}>
          <option value="">all</option>
          {options.map(([address, text]) => (
            <option key={address} value={address}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {askedOf().at !== null && (
        <button type="button" onClick={() => filter('at', null)}>
          Show the newest
        </button>
      )}
    </div>
  )
}

/** The log of events: breaks, anomalies and the health of the service, each with a link of its own. */
export function EventsView() {
  const { asOf, more } = place.value
  const { kind, stable, event: linked, at } = askedOf()
  const { labels } = useStables()
  // Without a filter of types on the service: a retraction has a type of its own, whatever it takes back.
  const path = withQuery(`${API}/events`, {
    stable,
    as_of: asOf,
    ...(at === null ? { limit: MOST_EVENTS } : { after: Math.max(0, at - BEFORE), limit: AROUND }),
  })
  const answer = useAnswer<{ events: LogEvent[]; coverage: Coverage }>(path, {
    refreshSeconds: asOf === null && at === null ? REFRESH_SECONDS : undefined,
  })
  const events = useComputed(() => {
    const asked = askedOf()
    const isLive = place.value.asOf === null && asked.at === null
    const all = merged(answer.value.data?.events ?? [], isLive ? (liveEvents.value as LogEvent[]) : [])
    return { shown: all.filter((one) => isShown(one, asked.kind, asked.stable)), taken: takenBack(all) }
  })
  const isThere = linked !== null && events.value.shown.some(({ id }) => id === linked)
  useEffect(() => {
    if (isThere) document.getElementById(linked)?.scrollIntoView({ block: 'center' })
  }, [isThere, linked])
  const options = [...labels.value.keys()].map((address) => [address, labelText(labels.value, address)] as const)
  return (
    <>
      <h1>Events</h1>
      <Filters options={options} />
      <Shown answer={answer.value} what="the log of events">
        {({ coverage }) => {
          const { shown, taken } = events.value
          return (
            <>
              <p class="readout-line" role="status">
                {shown.length === 0
                  ? 'There are no such events.'
                  : `${shown.length} event${shown.length === 1 ? '' : 's'}, the last recorded first.`}
                {linked !== null && !isThere && ' The event of this link is not among them.'}
                {kind !== null && ` Only ${kind}, and what was taken back of them.`}
              </p>
              <Lacking coverage={coverage} />
              {shown.length > 0 && (
                <Table
                  caption="The log of events, newest first"
                  columns={[{ title: 'Time' }, { title: 'Kind' }, { title: 'What happened' }, { title: 'Link' }]}
                  rows={shown.map((event) => ({
                    key: event.id,
                    id: event.id,
                    isMarked: event.id === linked,
                    cells: [
                      timeText(Date.parse(event.occurred_at) / 1000),
                      TYPE_NAMES[event.event] ?? event.event,
                      <span key="what" class="wraps">
                        {taken.has(event.id) && <strong>taken back: </strong>}
                        <span class={taken.has(event.id) ? 'taken' : undefined}>
                          <Sentence event={event} labels={labels.value} />
                        </span>
                      </span>,
                      <a
                        key="link"
                        href={hrefOf({
                          ...place.value,
                          more: { ...more, event: event.id, at: String(event.sequence) },
                        })}
                        aria-label={`#${event.sequence}: link to this event`}
                      >
                        #{event.sequence}
                      </a>,
                    ],
                  }))}
                />
              )}
            </>
          )
        }}
      </Shown>
    </>
  )
}
