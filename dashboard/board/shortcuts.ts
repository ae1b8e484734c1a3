import type { ReadonlySignal, Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Shortcut, viewShortcuts } from '../parts/keys.js'
import { go } from '../state/location.js'
import type { Shape } from '../state/place.js'
import { type Break, isWithin, neighbour } from './breaks.js'
import type { Focus } from './figure.js'
import { togglePin } from './heads.js'
import type { Picture } from './picture.js'

/** The field that the key `/` goes to. */
export const SEARCH_ID = 'search'

type Board = {
  picture: ReadonlySignal<Picture>
  breaks: ReadonlySignal<readonly Break[]>
  focus: Signal<Focus>
  shape: Shape
}

/** The keys of the board, while it is shown. */
export function useBoardKeys({ picture, breaks, focus, shape }: Board): void {
  useEffect(() => {
    /** The break that was jumped to last. */
    let current: Break | null = null

    function step(by: 1 | -1): void {
      const { lanes, end } = picture.value
      if (lanes.length === 0) return
      const from = focus.value?.lane ?? (by === 1 ? -1 : lanes.length)
      focus.value = {
        lane: Math.max(0, Math.min(lanes.length - 1, from + by)),
        at: focus.value?.at ?? end,
        isKept: true,
      }
    }

    function jump(direction: 1 | -1): void {
      const { lanes, from, end } = picture.value
      const laneOf = (one: Break): number => lanes.findIndex(({ stable }) => stable.address === one.stable)
      const shown = breaks.value.filter((one) => isWithin(one, from, end) && laneOf(one) !== -1)
      const next = neighbour(shown, current && shown.includes(current) ? current : null, direction)
      if (next === null) return
      current = next
      focus.value = { lane: laneOf(next), at: Math.max(next.startedAt, from), isKept: true }
    }

    const onLane = (act: (address: string) => void) => (): void => {
      const lane = focus.value && picture.value.lanes[focus.value.lane]
      if (lane) act(lane.stable.address)
    }
    const shortcuts: Shortcut[] = [
      { keys: ['/'], does: 'search', act: () => document.getElementById(SEARCH_ID)?.focus() },
      { keys: ['j'], does: 'next stable', act: () => step(1) },
      { keys: ['k'], does: 'previous stable', act: () => step(-1) },
      {
        keys: ['Enter'],
        does: 'open that stable',
        act: onLane((address) => go({ view: 'stable', address, more: {} })),
      },
      { keys: ['p'], does: 'pin that stable, or unpin it', act: onLane(togglePin) },
      { keys: [']'], does: 'next break in the picture', act: () => jump(1) },
      { keys: ['['], does: 'previous break', act: () => jump(-1) },
      {
        keys: ['t'],
        does: 'table or picture',
        act: () => go({ shape: shape === 'table' ? null : 'table' }, 'replace'),
      },
      {
        keys: ['Escape'],
        does: 'look at nothing in particular',
        act: () => {
          focus.value = null
          current = null
        },
      },
    ]
    viewShortcuts.value = shortcuts
    return () => {
      viewShortcuts.value = []
    }
  }, [shape])
}
