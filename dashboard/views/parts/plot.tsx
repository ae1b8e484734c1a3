import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { dayText } from '../../board/axis.js'
import { canvasSurface, readPalette } from '../../board/canvas-surface.js'
import type { Palette, Surface } from '../../board/surface.js'
import { clockText } from '../../parts/figures.js'
import { Loading } from '../../parts/states.js'
import { useFrame } from './frame.js'

/** What is drawn below the lines. `x` and `y` turn values into CSS pixels of the surface. */
export type Backdrop = {
  surface: Surface
  x: (seconds: number) => number
  y: (value: number) => number
  left: number
  top: number
  width: number
  height: number
}

export type Plotted = {
  data: uPlot.AlignedData
  /** Unix seconds at the left and the right end. */
  from: number
  to: number
  scale: uPlot.Scale
  series: (palette: Palette) => uPlot.Series[]
  bands?: (palette: Palette) => uPlot.Band[]
  /** What the numbers beside the picture say, on the left and on the right. */
  left: (value: number) => string
  right?: (value: number) => string
  backdrop?: (backdrop: Backdrop) => void
}

type Props = {
  /** What the picture shows, in words. */
  label: string
  height: number
  plotted: Plotted
  /** Told the index that the pointer is over, null when it leaves. */
  look: (index: number | null) => void
}

type Library = typeof import('./plot-library.js').UPlot

const DAY = 86_400

function drawBackdrop(plot: uPlot, palette: Palette, ratio: number, paint: (backdrop: Backdrop) => void): void {
  const { ctx, bbox } = plot
  const [left, top] = [bbox.left / ratio, bbox.top / ratio]
  const [width, height] = [bbox.width / ratio, bbox.height / ratio]
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  paint({
    surface: canvasSurface(ctx.canvas, palette, ratio),
    x: (seconds) => left + plot.valToPos(seconds, 'x'),
    y: (value) => top + plot.valToPos(value, 'y'),
    left,
    top,
    width,
    height,
  })
  ctx.restore()
}

function optionsOf(
  { from, to, scale, series, bands, left, right, backdrop }: Plotted,
  { look, height }: Pick<Props, 'look' | 'height'>,
  { width, ratio }: { width: number; ratio: number },
): uPlot.Options {
  const palette = readPalette()
  const axis = {
    stroke: palette.quiet,
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    grid: { stroke: palette.line, width: 1 },
    ticks: { show: false },
  }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { time: false, range: [from, to] }, y: scale },
    series: [{}, ...series(palette)],
    ...(bands && { bands: bands(palette) }),
    axes: [
      {
        ...axis,
        incrs: [300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, DAY, 2 * DAY, 5 * DAY],
        values: (_, at) => at.map((seconds) => (seconds % DAY === 0 ? dayText(seconds) : clockText(seconds))),
        space: 64,
        size: 26,
      },
      { ...axis, values: (_, values) => values.map(left), size: 52 },
      ...(right
        ? [
            {
              ...axis,
              values: (_: uPlot, values: number[]) => values.map(right),
              side: 1,
              size: 62,
              grid: { show: false },
            },
          ]
        : []),
    ],
    hooks: {
      ...(backdrop && { drawClear: [(plot: uPlot) => drawBackdrop(plot, palette, ratio, backdrop)] }),
      setCursor: [({ cursor }) => look(cursor.idx ?? null)],
    },
  }
}

/** Lines over time. Where a value is null there is no line. */
export function Plot({ label, height, plotted, look }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const library = useSignal<Library | null>(null)
  const hasFailed = useSignal(false)
  const frame = useFrame(host).value
  useEffect(() => {
    import('./plot-library.js').then(
      ({ UPlot }) => {
        library.value = UPlot
      },
      () => {
        hasFailed.value = true
      },
    )
  }, [])
  const Drawn = library.value
  useLayoutEffect(() => {
    if (!Drawn || !frame || !host.current) return
    const plot = new Drawn(optionsOf(plotted, { look, height }, frame), plotted.data, host.current)
    return () => plot.destroy()
  }, [Drawn, frame, plotted, height])
  return (
    <div class="plot" style={{ minHeight: `${height}px` }}>
      <div ref={host} role="img" aria-label={label} />
      {!Drawn && (hasFailed.value ? <p>The picture could not be loaded.</p> : <Loading what="the picture" />)}
    </div>
  )
}
