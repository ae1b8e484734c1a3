import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { API, withQuery } from '../../api/paths.js'
import { canvasSurface, readPalette, sizeCanvas } from '../../parts/canvas-surface.js'
import { shortText, timeText } from '../../parts/figures.js'
import { SaveMenu } from '../../parts/save-menu.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { Lacking } from '../parts/block.js'
import { useFrame } from '../parts/frame.js'
import { Behind, Table } from '../parts/tables.js'
import { secondsOf } from './breaks.js'
import { type Cell, cellAt, cellValue, type DepthAnswer, layoutOf, paintDepth, SHADES, SIDES } from './depth-picture.js'
import type { About } from './files.js'
import { useSpan } from './range.js'

function valueText(answer: DepthAnswer, cell: Cell): string {
  const value = cellValue(answer, cell)
  if (value.is === 'quoted') return value.bps.toFixed(1)
  return value.is === 'unquoted' ? 'no quote' : 'no sample'
}

function cellText(answer: DepthAnswer, cell: Cell): string {
  const { is } = cellValue(answer, cell)
  const when = timeText(secondsOf(answer.from) + (cell.bucket + 1) * answer.step_seconds)
  const size = shortText(answer.sizes[cell.size]?.size_tokens ?? 0)
  const what = `${cell.side === 'sell' ? 'selling' : 'buying'} ${size}`
  return `${when}: ${what}: ${valueText(answer, cell)}${is === 'quoted' ? ' bps of slippage' : ''}`
}

function Heat({ answer, span }: { answer: DepthAnswer; span: { from: number; to: number } }) {
  const host = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const looked = useSignal<Cell | null>(null)
  const frame = useFrame(host).value
  const layout = frame && layoutOf(answer, frame.width, span)
  useLayoutEffect(() => {
    if (!frame || !layout || !canvas.current) return
    sizeCanvas(canvas.current, layout.width, layout.height, frame.ratio)
    paintDepth(answer, layout, canvasSurface(canvas.current, readPalette(), frame.ratio))
  }, [frame, answer, span.from, span.to])
  const newest = answer.sizes[0]?.is_sampled.lastIndexOf(true) ?? -1
  const largest = answer.sizes.length - 1
  const summary =
    newest === -1 ? 'No sample in this range.' : `${cellText(answer, { side: 'sell', size: largest, bucket: newest })}.`
  return (
    <>
      <p class="readout-line">{looked.value ? cellText(answer, looked.value) : summary}</p>
      <div ref={host} class="heat" style={layout ? { height: `${layout.height}px` } : undefined}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Slippage by size over time, selling and buying. ${summary} The table below has the same numbers.`}
          onPointerMove={({ offsetX, offsetY }) => {
            looked.value = layout && cellAt(answer, layout, offsetX, offsetY)
          }}
          onPointerLeave={() => {
            looked.value = null
          }}
        />
      </div>
    </>
  )
}

function DepthTable({ answer }: { answer: DepthAnswer }) {
  const columns = SIDES.flatMap((side) => answer.sizes.map((_, size) => ({ side, size })))
  const rows = Array.from({ length: answer.bucket_count }, (_, bucket) => {
    const when = timeText(secondsOf(answer.from) + (bucket + 1) * answer.step_seconds)
    return { key: when, cells: [when, ...columns.map((column) => valueText(answer, { ...column, bucket }))] }
  }).reverse()
  return (
    <Table
      caption="Slippage in basis points by size and bucket, newest first"
      columns={[
        { title: 'End of the bucket' },
        ...columns.map(({ side, size }) => ({
          title: `${side === 'sell' ? 'Sell' : 'Buy'} ${shortText(answer.sizes[size]?.size_tokens ?? 0)}`,
          isNumber: true,
        })),
      ]}
      rows={rows}
    />
  )
}

/** What selling and buying costs by size, over the range. */
export function DepthBlock({ about }: { about: About }) {
  const { from, to, name } = useSpan()
  const path = withQuery(`${API}/stablecoins/${about.address}/depth/series`, { from, to, step: name })
  const answer = useAnswer<DepthAnswer>(path)
  return (
    <Shown answer={answer.value} what="the depth of the market">
      {(data) => {
        const asked = new URLSearchParams(answer.value.path?.split('?')[1])
        const span = { from: Number(asked.get('from')), to: Number(asked.get('to')) }
        return (
          <>
            {data.sizes.length === 0 ? (
              <p class="empty">The depth was not sampled in this range.</p>
            ) : (
              <>
                <SaveMenu of="depth" load={async () => (await import('./files.js')).depthFile(about, data, span)} />
                <Heat answer={data} span={span} />
                <ul class="marks">
                  {SHADES.map(({ opacity, text }) => (
                    <li key={text}>
                      <i class="key shade" style={{ opacity }} /> {text}
                    </li>
                  ))}
                  <li>bps of slippage</li>
                  <li>
                    <i class="key hatch" /> no quote for this size
                  </li>
                  <li>
                    <i class="key dots" /> no sample
                  </li>
                </ul>
              </>
            )}
            <Lacking coverage={data.coverage} />
            {data.sizes.length > 0 && <Behind>{() => <DepthTable answer={data} />}</Behind>}
          </>
        )
      }}
    </Shown>
  )
}
