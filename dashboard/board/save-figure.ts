import { timeText } from '../parts/figures.js'
import type { Scale } from '../state/place.js'
import { canvasSurface, readPalette, sizeCanvas } from './canvas-surface.js'
import { csvOf } from './csv.js'
import type { Picture } from './picture.js'
import { linesPlan, rowsPlan } from './plan.js'
import { summaryOf } from './stables.js'
import type { Surface } from './surface.js'
import { svgSurface } from './svg-surface.js'

const WIDTH = 1440
const HEIGHT = 860
const TITLE_HEIGHT = 56
/** Pixels of the file per pixel of the picture. */
const RATIO = 2

/** Paints moved down, to leave room for a title. */
function below(surface: Surface, dy: number): Surface {
  const moved = (rects: number[]): number[] => rects.map((value, i) => (i % 4 === 1 ? value + dy : value))
  return {
    rects: (rects, colour, opacity) => surface.rects(moved(rects), colour, opacity),
    pattern: (rects, kind) => surface.pattern(moved(rects), kind),
    line: (x1, y1, x2, y2, colour, width) => surface.line(x1, y1 + dy, x2, y2 + dy, colour, width),
    shape: (points, colour, outline) =>
      surface.shape(
        points.map((value, i) => (i % 2 === 1 ? value + dy : value)),
        colour,
        outline,
      ),
    text: (text, x, y, style) => surface.text(text, x, y + dy, style),
  }
}

function download(content: Blob, extension: string, picture: Picture): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = `plumbline-pegs-${new Date(picture.end * 1000).toISOString().slice(0, 19).replaceAll(':', '')}Z.${extension}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Saves the picture as it is shown, with its names and a title that says what and when it is; or its numbers. */
export async function saveFigure(
  kind: 'png' | 'svg' | 'csv',
  picture: Picture,
  shape: 'lines' | 'rows',
  scale: Scale,
): Promise<void> {
  if (kind === 'csv') return download(new Blob([csvOf(picture)], { type: 'text/csv;charset=utf-8' }), 'csv', picture)
  const plan = shape === 'lines' ? linesPlan(picture, WIDTH, HEIGHT, scale) : rowsPlan(picture, WIDTH, HEIGHT)
  const height = plan.height + TITLE_HEIGHT
  const palette = readPalette()
  const title = `Plumbline: pegs as of ${timeText(picture.end)}`
  const paint = (whole: Surface): void => {
    whole.text(title, 12, 26, { colour: 'ink', size: 17, isBold: true })
    const counts = summaryOf(picture.lanes.map(({ now }) => now))
    whole.text(`${counts} Basis points from 1.00 pathUSD, ${location.host}`, 12, 46, { colour: 'quiet', size: 12 })
    const surface = below(whole, TITLE_HEIGHT)
    plan.paint(surface)
    plan.paintMoment(surface, picture.end)
    picture.lanes.forEach(({ label }, i) => {
      const { left, top, width, height } = plan.headOf(i)
      const style = { colour: 'ink', size: 12, isTurned: plan.isTurned } as const
      if (plan.isTurned) surface.text(label.text, left + width / 2 + 4, top + height - 8, style)
      else if (plan.time.isVertical)
        surface.text(label.text, left + width / 2, top + height - 10, { ...style, align: 'middle' })
      else surface.text(label.text, left + width, top + height / 2 + 4, { ...style, align: 'end' })
    })
  }
  if (kind === 'svg') {
    const { surface, document } = svgSurface(plan.width, height, palette)
    paint(surface)
    return download(new Blob([document(title)], { type: 'image/svg+xml' }), 'svg', picture)
  }
  const canvas = document.createElement('canvas')
  sizeCanvas(canvas, plan.width, height, RATIO)
  const surface = canvasSurface(canvas, palette, RATIO)
  surface.rects([0, 0, plan.width, height], 'paper')
  paint(surface)
  const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (png) download(png, 'png', picture)
}
