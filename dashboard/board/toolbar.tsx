import type { ReadonlySignal } from '@preact/signals'
import { timeText } from '../parts/figures.js'
import { SaveMenu } from '../parts/save-menu.js'
import { now } from '../state/clock.js'
import { go, place } from '../state/location.js'
import { SCALES, type Shape, SORTS, WINDOWS } from '../state/place.js'
import type { Picture } from './picture.js'
import { WINDOW_STEPS } from './series.js'
import { SEARCH_ID } from './shortcuts.js'

const SORT_NAMES = {
  symbol: 'symbol',
  deviation: 'deviation now',
  worst: 'worst in 24 h',
  risk: 'risk',
  supply: 'supply',
} as const
const SHAPE_NAMES = { lines: 'Lines', rows: 'Rows', table: 'Table' } as const

/** Buttons of which one is pressed. */
function Choice<Value extends string>({
  name,
  values,
  value,
  names,
  choose,
}: {
  name: string
  values: readonly Value[]
  value: Value
  names?: Record<Value, string>
  choose: (value: Value) => void
}) {
  return (
    <fieldset class="choice">
      <legend class="unseen">{name}</legend>
      {values.map((one) => (
        <button key={one} type="button" class={one} aria-pressed={one === value} onClick={() => choose(one)}>
          {names?.[one] ?? one}
        </button>
      ))}
    </fieldset>
  )
}

/** Moves the window by half of its length; forward only up to now. */
function Steps() {
  const { asOf, window } = place.value
  const half = WINDOW_STEPS[window].length / 2
  const move = (by: number): void => {
    const at = (asOf ?? now()) + by
    go({ asOf: at >= now() - WINDOW_STEPS[window].step ? null : Math.floor(at) })
  }
  return (
    <fieldset class="choice">
      <legend class="unseen">Move through time</legend>
      <button type="button" onClick={() => move(-half)} aria-label="Earlier" title={`Half of ${window} earlier`}>
        ← <span class="wide-only">Earlier</span>
      </button>
      <button
        type="button"
        onClick={() => move(half)}
        disabled={asOf === null}
        aria-label="Later"
        title={`Half of ${window} later`}
      >
        <span class="wide-only">Later</span> →
      </button>
    </fieldset>
  )
}

/** What the board shows, in a sentence and in controls. */
export function Toolbar({
  picture,
  shape,
  summary,
  moment,
}: {
  picture: ReadonlySignal<Picture>
  shape: Shape
  summary: string
  /** That the slider is dragged to. */
  moment: number | null
}) {
  const { search, sort, window, scale } = place.value
  return (
    <div class="toolbar">
      <p class="summary">
        {moment !== null && <time dateTime={new Date(moment * 1000).toISOString()}>{timeText(moment)}: </time>}
        {summary}
      </p>
      <div class="controls no-print">
        <label>
          <span class="unseen">Search</span>
          <input
            id={SEARCH_ID}
            type="search"
            placeholder="Search  /"
            value={search}
            onInput={({ currentTarget }) => go({ search: currentTarget.value }, 'replace')}
            onKeyDown={({ key, currentTarget }) => {
              if (key === 'Escape' || key === 'Enter') currentTarget.blur()
            }}
          />
        </label>
        <label>
          <span class="wide-only">Sort</span>
          <select
            aria-label="Sort"
            value={sort}
            onChange={({ currentTarget }) => go({ sort: currentTarget.value as typeof sort })}
          >
            {SORTS.map((one) => (
              <option key={one} value={one}>
                {SORT_NAMES[one]}
              </option>
            ))}
          </select>
        </label>
        <Choice name="Window" values={WINDOWS} value={window} choose={(value) => go({ window: value })} />
        <Steps />
        <Choice
          name="Shape"
          values={['lines', 'rows', 'table']}
          value={shape}
          names={SHAPE_NAMES}
          choose={(value) => go({ shape: value })}
        />
        {shape === 'lines' && (
          <label>
            <span>Scale</span>
            <select value={scale} onChange={({ currentTarget }) => go({ scale: currentTarget.value as typeof scale })}>
              {SCALES.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )}
        <SaveMenu
          load={async () => {
            const { boardFile } = await import('./file.js')
            return boardFile(picture.value, shape === 'rows' ? 'rows' : 'lines', place.value.scale)
          }}
        />
      </div>
    </div>
  )
}
