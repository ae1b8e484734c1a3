import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Loading, Notice, Overdue, ProblemNotice } from '../parts/states.js'
import { place } from '../state/location.js'
import { useBoardData } from './data.js'
import { Figure, type Focus } from './figure.js'
import { Legend } from './legend.js'
import { isDrawn } from './order.js'
import { standingAt } from './picture.js'
import { useBoardKeys } from './shortcuts.js'
import { summaryOf } from './stables.js'
import { StablesTable } from './table.js'
import { Toolbar } from './toolbar.js'

/** Screens narrower than this show rows instead of lines. */
const NARROW = '(max-width: 40rem)'

/** Every stable at a glance, now or at any moment of the past. */
export function Board() {
  const { list, series, picture, still, breaks, hasArrived } = useBoardData()
  const focus = useSignal<Focus>(null)
  const scrub = useSignal<number | null>(null)
  const isNarrow = useSignal(matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const onChange = (): void => {
      isNarrow.value = query.matches
    }
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }, [])
  useEffect(() => {
    if (hasArrived) scrub.value = null
  }, [hasArrived, place.value.asOf, place.value.window])
  const shape = place.value.shape ?? (isNarrow.value ? 'rows' : 'lines')
  useBoardKeys({ picture, breaks, focus, shape })

  const { data, problem } = list.value
  if (data === null) return problem ? <ProblemNotice problem={problem} /> : <Loading what="the stables" />
  if (data.stablecoins.length === 0)
    return <Notice title="No stables yet">The service has not read any stable from the chain so far.</Notice>
  const { lanes } = picture.value
  const moment = scrub.value
  const hidden = data.stablecoins.filter((stable) => !isDrawn(stable, place.value)).length
  const summary = summaryOf(
    lanes.map((lane) => ({
      name: lane.label.text,
      standing: moment === null ? lane.now : standingAt(picture.value, lane, moment),
    })),
  )
  return (
    <>
      <h1 class="unseen">Pegs</h1>
      <Toolbar picture={picture} shape={shape} summary={summary} moment={moment} />
      <Overdue answer={list.value} what="The list of stables" />
      <Overdue answer={series.value} what="The history in the picture" />
      {lanes.length === 0 ? (
        <Notice title="Nothing found">No symbol, name or address matches “{place.value.search}”.</Notice>
      ) : shape === 'table' ? (
        <StablesTable picture={picture.value} />
      ) : (
        <Figure
          picture={picture.value}
          still={still.value}
          shape={shape}
          summary={summary}
          focus={focus}
          scrub={scrub}
        />
      )}
      {shape !== 'table' && (
        <Legend
          shape={shape}
          note={
            hidden > 0
              ? `${hidden} whose pegs are not sampled are in the table only.`
              : series.value.data === null
                ? series.value.problem
                  ? null
                  : 'Loading the history …'
                : series.value.data.coverage.status === 'complete'
                  ? null
                  : series.value.data.coverage.message
          }
        />
      )}
    </>
  )
}
