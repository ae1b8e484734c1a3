import { plainText } from '../parts/names.js'
import { go, place } from '../state/location.js'
import { elsewhere, hrefOf } from '../state/place.js'
import type { Lane } from './picture.js'
import type { Plan } from './plan.js'

/** Pins a stable, or takes its pin away. */
export function togglePin(address: string): void {
  const { pins } = place.value
  go({ pins: pins.includes(address) ? pins.filter((pin) => pin !== address) : [...pins, address] }, 'replace')
}

/** The names of the stables as links, above their strings or before their rows. */
export function Heads({ plan, lanes, looked }: { plan: Plan; lanes: readonly Lane[]; looked: number | null }) {
  return (
    <ul class={`heads${plan.isTurned ? ' turned' : ''}`} aria-label="Stables">
      {lanes.map(({ stable: { address, name }, label, isPinned }, i) => {
        const { left, top, width, height } = plan.headOf(i)
        return (
          <li
            key={address}
            class={looked === i ? 'looked' : undefined}
            style={{ left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` }}
          >
            <a
              href={hrefOf(elsewhere(place.value, 'stable', address))}
              title={`${plainText(name, 60)} ${address}`}
              data-address={address}
            >
              <bdi>{label.text}</bdi>
            </a>
            <button
              type="button"
              class="pin"
              aria-pressed={isPinned}
              aria-label={`Pin ${label.text}`}
              title={isPinned ? 'Unpin' : 'Pin: keep first'}
              onClick={() => togglePin(address)}
            >
              <svg viewBox="0 0 12 12" width="10" height="10" aria-hidden="true">
                <path d="M6 1.5v5M3 6.5h6L6 11z" />
              </svg>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
