import { useRef } from 'preact/hooks'
import type { FigureFile, FileKind } from './save-figure.js'

const KINDS: readonly FileKind[] = ['png', 'svg', 'csv']

/** Saves a picture, or its numbers, as a file. `load`: what is saved, made when somebody asks for it. */
export function SaveMenu({ load, of }: { load: () => FigureFile | Promise<FigureFile>; of?: string }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const save = async (kind: FileKind): Promise<void> => {
    if (menu.current) menu.current.open = false
    // Most visitors save nothing.
    const [{ saveFigure }, figure] = await Promise.all([import('./save-figure.js'), load()])
    await saveFigure(kind, figure)
  }
  return (
    <details class="menu no-print" ref={menu}>
      <summary aria-label={of && `Save ${of}`}>Save</summary>
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
