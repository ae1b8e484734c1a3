import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { NotMeasured } from '../../parts/states.js'

/** How far below the screen a block begins to load. */
const MARGIN = '160px'

/** A part of a view with a title. What is in it is made, and so asked for, when it comes into view or is printed. */
export function Block({ title, children }: { title: string; children: ComponentChildren }) {
  const frame = useRef<HTMLElement>(null)
  const id = useId()
  const isSeen = useSignal(false)
  useEffect(() => {
    const see = (): void => {
      isSeen.value = true
      observer.disconnect()
    }
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) see()
      },
      { rootMargin: MARGIN },
    )
    observer.observe(frame.current as HTMLElement)
    addEventListener('beforeprint', see)
    return () => {
      observer.disconnect()
      removeEventListener('beforeprint', see)
    }
  }, [])
  return (
    <section class="panel" ref={frame} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {isSeen.value ? children : <p class="loading">Loads when it comes into view.</p>}
    </section>
  )
}

export type Coverage = { status: string; message: string }

/** What an answer lacks, verbatim; nothing if it is complete. */
export const Lacking = ({ coverage }: { coverage: Coverage | undefined }) =>
  coverage === undefined || coverage.status === 'complete' ? null : <NotMeasured message={coverage.message} />
