import { useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { canvasSurface, readPalette, sizeCanvas } from '../../parts/canvas-surface.js'
import { SaveMenu } from '../../parts/save-menu.js'
import { go, place } from '../../state/location.js'
import { useFrame } from '../parts/frame.js'
import { labelText } from '../parts/stables.js'
import { circleOf, circleText, paintCircle, placeAt } from './chord-picture.js'
import type { ShownFlows } from './files.js'

const HIGHEST = 480
/** The names beside the circle need some room. */
const LOWEST = 320

/** The largest flows as ribbons of a circle. A place is looked at with the pointer, or chosen. */
export function Chord({ shown }: { shown: ShownFlows }) {
  const circle = useMemo(
    () => circleOf(shown.edges, shown.order, (address) => labelText(shown.labels, address)),
    [shown.edges],
  )
  const host = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const pointed = useSignal<number | null>(null)
  const frame = useFrame(host).value
  const height = Math.max(LOWEST, Math.min(HIGHEST, frame?.width ?? HIGHEST))
  const { stable: chosen = '', ...more } = place.value.more
  const index = circle.keys.indexOf(chosen)
  const looked = pointed.value ?? (index === -1 ? null : index)
  useLayoutEffect(() => {
    if (!frame || !canvas.current) return
    sizeCanvas(canvas.current, frame.width, height, frame.ratio)
    paintCircle(circle, looked, frame.width, height, canvasSurface(canvas.current, readPalette(), frame.ratio))
  }, [frame, circle, looked])
  const text = circleText(circle, looked)
  return (
    <>
      <SaveMenu of="circle" load={async () => (await import('./files.js')).circleFile(shown)} />
      <p class="readout-line" role="status">
        {text}
      </p>
      <label class="controls no-print">
        Look at
        <select
          value={index === -1 ? '' : chosen}
          onChange={({ currentTarget }) => {
            const stable = currentTarget.value
            go({ more: stable === '' ? more : { ...more, stable } })
          }}
        >
          <option value="">all</option>
          {circle.names.map((name, i) => (
            <option key={name} value={circle.keys[i]}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div ref={host} class="chord" style={{ height: `${height}px` }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Flows between the largest stables as ribbons of a circle. ${text} The matrix above has the same numbers.`}
          onPointerMove={({ offsetX, offsetY }) => {
            if (frame) pointed.value = placeAt(circle, frame.width, height, offsetX, offsetY)
          }}
          onPointerLeave={() => {
            pointed.value = null
          }}
        />
      </div>
      <ul class="marks">
        <li>an arrow: where it went</li>
        <li>
          <i class="key above" /> out of what is looked at
        </li>
        <li>
          <i class="key below" /> into it
        </li>
      </ul>
    </>
  )
}
