import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { canvasSurface, readPalette, sizeCanvas } from '../parts/canvas-surface.js'
import { isOnPaper, onColours } from '../parts/paper.js'
import { go, place } from '../state/location.js'
import { Heads } from './heads.js'
import type { Lane, Picture } from './picture.js'
import { linesPlan, type Plan, rowsPlan, type Spot } from './plan.js'
import { Readout } from './readout.js'
import { TimeSlider } from './time-slider.js'

/** What is looked at: by the pointer, or by the keys, which keep it. */
export type Focus = (Spot & { isKept: boolean }) | null

type Props = {
  picture: Picture
  /** Changes with everything in the picture that does not move with each sample. */
  still: object
  shape: 'lines' | 'rows'
  summary: string
  focus: Signal<Focus>
  /** The instant that the slider is dragged to; null for the end of the picture. */
  scrub: Signal<number | null>
}

const LEAST_HEIGHT = 340
/** Between the picture and the legend below it, and below that. */
const MARGIN = 18

/** A browser shrinks what is not much wider than paper, and cuts off the rest. */
const PAPER_WIDTH = 1000

/** Repaints when the theme changes, the window does, or the page is printed. */
function useFrame(frame: { current: HTMLElement | null }) {
  const size = useSignal<{ width: number; height: number; ratio: number; theme: number } | null>(null)
  useLayoutEffect(() => {
    const legend = frame.current?.nextElementSibling
    const measure = (theme = size.value?.theme ?? 0): void => {
      const box = frame.current?.getBoundingClientRect()
      if (!box) return
      const below = legend?.getBoundingClientRect().height ?? 0
      const height = Math.max(LEAST_HEIGHT, Math.floor(innerHeight - box.top - scrollY - below - MARGIN))
      const width = Math.floor(isOnPaper() ? Math.min(PAPER_WIDTH, box.width) : box.width)
      size.value = { width, height, ratio: Math.min(3, devicePixelRatio || 1), theme }
    }
    measure()
    const observer = new ResizeObserver(() => measure())
    for (const element of [frame.current, legend]) if (element) observer.observe(element)
    const stop = onColours(() => measure((size.value?.theme ?? 0) + 1))
    const onResize = (): void => measure()
    addEventListener('resize', onResize)
    return () => {
      observer.disconnect()
      stop()
      removeEventListener('resize', onResize)
    }
  }, [])
  return size
}

/** The picture of the board: canvases, with names, slider and readout as elements of the page. */
export function Figure({ picture, still, shape, summary, focus, scrub }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const base = useRef<HTMLCanvasElement>(null)
  const moment = useRef<HTMLCanvasElement>(null)
  const over = useRef<HTMLCanvasElement>(null)
  const size = useFrame(frame).value
  const { scale } = place.value
  const plan: Plan | null = useMemo(
    () =>
      size &&
      (shape === 'lines'
        ? linesPlan(picture, size.width, size.height, scale)
        : rowsPlan(picture, size.width, size.height)),
    [picture, shape, size, scale],
  )
  // Reading the theme makes the browser compute styles, which takes longer than to paint what the pointer moves.
  const palette = useMemo(readPalette, [size?.theme])

  useLayoutEffect(() => {
    if (!plan || !size || !base.current) return
    sizeCanvas(base.current, plan.width, plan.height, size.ratio)
    performance.mark('board-paint-start')
    plan.paint(canvasSurface(base.current, palette, size.ratio))
    performance.measure('board-paint', 'board-paint-start')
    if (picture.lanes.some(({ series }) => series !== null)) performance.mark('board-history')
  }, [still, shape, size, scale])

  const at = scrub.value ?? picture.end
  useLayoutEffect(() => {
    if (!plan || !size || !moment.current) return
    sizeCanvas(moment.current, plan.width, plan.height, size.ratio)
    plan.paintMoment(canvasSurface(moment.current, palette, size.ratio), at)
  }, [plan, at])

  const looked = focus.value
  useLayoutEffect(() => {
    if (!plan || !size || !over.current) return
    sizeCanvas(over.current, plan.width, plan.height, size.ratio)
    if (looked && looked.lane < picture.lanes.length)
      plan.paintFocus(canvasSurface(over.current, palette, size.ratio), looked)
  }, [plan, looked])

  // Not drawn again while the pointer moves along one string.
  const heads = useMemo(
    () => plan && <Heads plan={plan} lanes={picture.lanes} looked={looked?.lane ?? null} />,
    [plan, looked?.lane],
  )

  // A link to another place has not kept what was looked at.
  useEffect(() => {
    focus.value = null
  }, [shape])

  const onMove = (event: PointerEvent): void => {
    if (event.pointerType === 'touch') return
    const box = over.current?.getBoundingClientRect()
    const spot = box && plan ? plan.spotAt(event.clientX - box.left, event.clientY - box.top) : null
    focus.value = spot && { ...spot, isKept: false }
  }
  const open = (event: MouseEvent): void => {
    const spot = over.current && plan?.spotAt(event.offsetX, event.offsetY)
    const touched = spot && picture.lanes[spot.lane]
    if (!touched) return
    // A finger cannot hover: its first touch shows the numbers.
    const isTouch = (event as PointerEvent).pointerType === 'touch'
    if (isTouch && !(focus.value?.isKept && focus.value.lane === spot.lane)) focus.value = { ...spot, isKept: true }
    else go({ view: 'stable', address: touched.stable.address, more: {} })
  }
  const lane: Lane | undefined = looked ? picture.lanes[looked.lane] : undefined
  return (
    <div class={`figure ${shape}`} ref={frame}>
      {plan && (
        <div class="stage" style={{ height: `${plan.height}px` }}>
          <canvas ref={base} role="img" aria-label={`${summary} The key t shows the same as a table.`} />
          <canvas ref={moment} />
          <canvas
            ref={over}
            class="over"
            onPointerMove={onMove}
            onPointerLeave={() => {
              if (!focus.value?.isKept) focus.value = null
            }}
            onClick={open}
          />
          {heads}
          <TimeSlider plan={plan} picture={picture} scrub={scrub} />
          {looked && lane && <Readout plan={plan} picture={picture} spot={looked} lane={lane} isKept={looked.isKept} />}
        </div>
      )}
    </div>
  )
}
