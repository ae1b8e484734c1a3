import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { place } from '../state/location.js'
import type { Shape } from '../state/place.js'
import type { Picture } from './picture.js'

const KINDS = ['png', 'svg', 'csv'] as const

/** Saves the picture, or its numbers, as a file. */
export function ExportMenu({ picture, shape }: { picture: ReadonlySignal<Picture>; shape: Shape }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const save = async (kind: (typeof KINDS)[number]): Promise<void> => {
    if (menu.current) menu.current.open = false
    // Most visitors save nothing.
    const { saveFigure } = await import('./save-figure.js')
    await saveFigure(kind, picture.value, shape === 'rows' ? 'rows' : 'lines', place.value.scale)
  }
  return (
    <details class="menu" ref={menu}>
      <summary>Save</summary>
      <div>
        {KINDS.map((kind) => (
          <button key={kind} type="button" onClick={() => void save(kind)}>
            {kind.toUpperCase()}
          </button>
        ))}
      </div>
    </details>
  )
}
