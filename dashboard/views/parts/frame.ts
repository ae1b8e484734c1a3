import { type Signal, useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { onColours } from '../../parts/paper.js'

/** Another object whenever the width of an element or the colours of the page change; null before it is known. */
export function useFrame(element: { current: HTMLElement | null }): Signal<{ width: number; ratio: number } | null> {
  const frame = useSignal<{ width: number; ratio: number } | null>(null)
  useLayoutEffect(() => {
    const measure = (): void => {
      const width = Math.floor(element.current?.getBoundingClientRect().width ?? 0)
      if (width > 0) frame.value = { width, ratio: Math.min(3, devicePixelRatio || 1) }
    }
    measure()
    const observer = new ResizeObserver(() => {
      if (Math.floor(element.current?.getBoundingClientRect().width ?? 0) !== frame.value?.width) measure()
    })
    observer.observe(element.current as HTMLElement)
    const stop = onColours(measure)
    return () => {
      observer.disconnect()
      stop()
    }
  }, [])
  return frame
}
