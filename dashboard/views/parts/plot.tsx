import { useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { canvasSurface, readPalette, sizeCanvas } from '../../parts/canvas-surface.js'
import { useFrame } from './frame.js'
import { boxOf, indexAt, type Plotted, paintLooked, paintPlot } from './plot-picture.js'

type Props = {
  /** What the picture shows, in words. */
  label: string
  height: number
  plotted: Plotted
  /** Told the index that the pointer is over, null when it leaves. */
  look: (index: number | null) => void
}

/** Lines over time, on a canvas; what the pointer is over is on another one above it. */
export function Plot({ label, height, plotted, look }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const base = useRef<HTMLCanvasElement>(null)
  const over = useRef<HTMLCanvasElement>(null)
  const looked = useSignal<number | null>(null)
  const frame = useFrame(host).value
  // Another theme makes another frame.
  const palette = useMemo(readPalette, [frame])
  useLayoutEffect(() => {
    if (!frame || !base.current) return
    sizeCanvas(base.current, frame.width, height, frame.ratio)
    paintPlot(plotted, frame.width, height, canvasSurface(base.current, palette, frame.ratio))
  }, [frame, plotted, height])
  const index = looked.value
  useLayoutEffect(() => {
    if (!frame || !over.current) return
    sizeCanvas(over.current, frame.width, height, frame.ratio)
    if (index !== null)
      paintLooked(plotted, index, frame.width, height, canvasSurface(over.current, palette, frame.ratio))
  }, [frame, plotted, height, index])
  const lookAt = (next: number | null): void => {
    if (next === looked.value) return
    looked.value = next
    look(next)
  }
  return (
    <div class="plot" ref={host} style={{ height: `${height}px` }}>
      <canvas ref={base} role="img" aria-label={label} />
      <canvas
        ref={over}
        onPointerMove={({ offsetX }) => {
          if (frame) lookAt(indexAt(plotted, boxOf(plotted, frame.width, height), offsetX))
        }}
        onPointerLeave={() => lookAt(null)}
      />
    </div>
  )
}
