import type { Signal } from '@preact/signals'
import { timeText } from '../parts/figures.js'
import { go } from '../state/location.js'
import type { Picture } from './picture.js'
import type { Plan } from './plan.js'

/** As high and wide as the handle, so that its middle reaches both ends of the time that is shown. */
const HANDLE = 16

/**
 * The slider over the time that is shown. While it moves, the picture shows what is loaded and nothing is requested; when
 * it is let go, the page moves to that instant.
 */
export function TimeSlider({ plan, picture, scrub }: { plan: Plan; picture: Picture; scrub: Signal<number | null> }) {
  const { time } = plan
  const at = scrub.value ?? picture.end
  const style = time.isVertical
    ? { left: '0px', top: `${time.top - HANDLE / 2}px`, height: `${time.height + HANDLE}px` }
    : { left: `${time.left - HANDLE / 2}px`, top: '-18px', width: `${time.width + HANDLE}px` }
  return (
    <input
      type="range"
      class={`slider ${time.isVertical ? 'vertical' : 'horizontal'} no-print`}
      style={style}
      aria-label="Moment that is shown"
      aria-valuetext={scrub.value === null ? 'the end of the picture' : timeText(at)}
      min={picture.from}
      max={picture.end}
      step={time.isVertical || picture.step < 3600 ? 60 : 300}
      value={at}
      onInput={({ currentTarget: { valueAsNumber } }) => {
        scrub.value = valueAsNumber >= picture.to ? null : valueAsNumber
      }}
      onChange={() => {
        const moment = scrub.value
        if (moment === null) return
        // The picture stays at it until that moment's own has come.
        go({ asOf: Math.floor(moment) })
      }}
    />
  )
}
