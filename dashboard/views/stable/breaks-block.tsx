import type { ReadonlySignal } from '@preact/signals'
import { ageText, bpsText, timeText } from '../../parts/figures.js'
import { Shown } from '../../parts/states.js'
import type { Answered } from '../../state/answer.js'
import { place } from '../../state/location.js'
import { hrefOf } from '../../state/place.js'
import { Lacking } from '../parts/block.js'
import { Table } from '../parts/tables.js'
import { momentOf, type PegEvent, type PegEvents, secondsOf } from './breaks.js'

/** More are in the API. */
export const MOST_BREAKS = 100
/** Shown at first. */
const NEWEST = 8

/** The two are found apart: one that was severe for a while is in both. */
const SEVERITIES = { mild: 'mild: over 10 bps', severe: 'severe: over 50 bps' } as const

const rowOf = (event: PegEvent) => {
  const { severity, started_at, ended_at, duration_seconds, max_deviation_bps, thin } = event
  const start = timeText(secondsOf(started_at))
  return {
    key: `${severity} ${started_at}`,
    cells: [
      <a key="start" href={hrefOf({ ...place.value, asOf: Math.floor(momentOf(event)) })} title="Show this moment">
        {start}
      </a>,
      thin ? `${SEVERITIES[severity]}, thin` : SEVERITIES[severity],
      ended_at === null ? 'ongoing' : timeText(secondsOf(ended_at)),
      duration_seconds === null ? '–' : ageText(duration_seconds),
      bpsText(max_deviation_bps).replace('+', ''),
    ],
  }
}

/** The breaks of the peg, newest first; each start is a link to that moment. */
export function BreaksBlock({ breaks }: { breaks: ReadonlySignal<Answered<PegEvents>> }) {
  return (
    <Shown answer={breaks.value} what="the list of breaks">
      {({ events, coverage, next_cursor }) => (
        <>
          {events.length === 0 ? (
            <p class="empty">No break was found.</p>
          ) : (
            <Table
              caption="Breaks of the peg, newest first"
              columns={[
                { title: 'Started' },
                { title: 'Severity' },
                { title: 'Ended' },
                { title: 'Lasted', isNumber: true },
                { title: 'Farthest, bps', isNumber: true },
              ]}
              atFirst={NEWEST}
              rows={events.map(rowOf)}
            />
          )}
          {next_cursor !== null && <p class="empty">These are the newest {MOST_BREAKS}; the API has them all.</p>}
          <Lacking coverage={coverage} />
        </>
      )}
    </Shown>
  )
}
