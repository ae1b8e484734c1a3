import { useComputed, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { API, withQuery } from '../api/paths.js'
import { liveEvents, samples } from '../live/live.js'
import { labelsOf } from '../parts/names.js'
import { useAnswer } from '../state/answer.js'
import { now, ticking } from '../state/clock.js'
import { place } from '../state/location.js'
import { breaksFrom, withOpen } from './breaks.js'
import { isDrawn, isFound, ordered } from './order.js'
import { pictureOf } from './picture.js'
import { type SeriesAnswer, spanOf, WINDOW_STEPS } from './series.js'
import type { ListedStable } from './stables.js'

/** The list also has risk and supply, which no stream announces. */
const LIST_SECONDS = 60
/** While nothing has been read of the chain, its first stables are awaited, and then their history. */
const EMPTY_LIST_SECONDS = 3
/** Longer than an answer is kept by the browser. */
const EMPTY_SERIES_SECONDS = 6
const EVENTS_SECONDS = 120
/** A bucket is asked for when its last block has certainly been read. */
const BUCKET_DELAY_SECONDS = 8
const BREAK_TYPES = 'peg_break.started,peg_break.ended,event.retracted'
/** As many as the service gives at once. */
const MOST_EVENTS = 500

const NO_PRICES = new Map<string, never>()

type Events = { events: Parameters<typeof breaksFrom>[0] }

/** What the board shows: three answers and the stream, put together for the place that the URL names. */
export function useBoardData() {
  const { asOf, window } = place.value
  const isLive = asOf === null
  const { step, name } = WINDOW_STEPS[window]
  // Changes only when a bucket ends.
  const lastEnd = useComputed(() => {
    const { asOf, window } = place.value
    return spanOf(window, asOf ?? ticking.value - BUCKET_DELAY_SECONDS).to
  }).value
  const span = spanOf(window, lastEnd)
  const listPath = withQuery(`${API}/stablecoins`, { as_of: asOf })
  const seriesPath = withQuery(`${API}/stablecoins/peg/series`, { from: span.from, to: span.to, step: name })
  const isEmpty = useSignal({ list: false, series: false })
  const list = useAnswer<{ stablecoins: ListedStable[] }>(listPath, {
    refreshSeconds: isLive ? (isEmpty.value.list ? EMPTY_LIST_SECONDS : LIST_SECONDS) : undefined,
  })
  const series = useAnswer<SeriesAnswer>(seriesPath, {
    refreshSeconds: isLive && isEmpty.value.series ? EMPTY_SERIES_SECONDS : undefined,
  })
  useEffect(() => {
    const known = { list: list.value.data?.stablecoins.length === 0, series: series.value.data?.stables.length === 0 }
    if (known.list !== isEmpty.value.list || known.series !== isEmpty.value.series) isEmpty.value = known
  }, [list.value, series.value])
  const events = useAnswer<Events>(
    withQuery(`${API}/events`, { types: BREAK_TYPES, limit: MOST_EVENTS, as_of: asOf }),
    {
      refreshSeconds: isLive ? EVENTS_SECONDS : undefined,
    },
  )

  const announced = useComputed(() =>
    breaksFrom([
      ...(events.value.data?.events ?? []),
      ...(place.value.asOf === null ? (liveEvents.value as Events['events']) : []),
    ]),
  )
  const breaks = useComputed(() => withOpen(announced.value, list.value.data?.stablecoins ?? []))
  const labels = useComputed(() => labelsOf(list.value.data?.stablecoins ?? []))
  const shown = useComputed(() => {
    const { sort, pins, search } = place.value
    const found = (list.value.data?.stablecoins ?? []).filter(
      (stable) => isFound(stable, search) && isDrawn(stable, place.value),
    )
    return ordered(found, { sort, pins, labels: labels.value })
  })
  /** The instant that the data of the list are about; the end of the picture. */
  const end = useSignal(now())
  useEffect(() => {
    end.value = asOf ?? now()
  }, [list.value, series.value, asOf])
  const picture = useComputed(() =>
    pictureOf({
      stables: shown.value,
      labels: labels.value,
      series: series.value.data,
      live: place.value.asOf === null ? samples.value : NO_PRICES,
      breaks: breaks.value,
      pins: place.value.pins,
      span: { ...span, step },
      end: end.value,
    }),
  )
  /** Another one whenever something changes that does not move with every sample. */
  const still = useComputed(() => ({
    at: [end.value, shown.value, series.value.data, breaks.value, place.value.pins],
  }))
  return {
    list,
    series,
    picture,
    still,
    breaks,
    /** Whether what is shown is about the place that the URL names. */
    hasArrived: list.value.path === listPath && series.value.path === seriesPath,
  }
}
