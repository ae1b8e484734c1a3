import { canvasSurface, readPalette, sizeCanvas } from './canvas-surface.js'
import { timeText } from './figures.js'
import type { Surface } from './surface.js'
import { svgSurface } from './svg-surface.js'

export type FileKind = 'png' | 'svg' | 'csv'

/** A picture that can be saved, and its numbers. */
export type FigureFile = {
  /** The beginning of the file's name: letters, digits and dashes. */
  name: string
  /** What it shows, as a title, and a line below that. */
  title: string
  note: string
  /** The moment that it shows, in unix seconds. */
  at: number
  /** Of the picture, in CSS pixels. */
  width: number
  height: number
  paint: (surface: Surface) => void
  csv: () => string
}

const TITLE_HEIGHT = 56
/** Pixels of the file per pixel of the picture. */
const RATIO = 2

/** Paints moved down, to leave room for a title. */
function below(surface: Surface, dy: number): Surface {
  const every = (size: number) => (values: readonly number[]) =>
    values.map((value, i) => (i % size === 1 ? value + dy : value))
  const [rects, points] = [every(4), every(2)]
  return {
    rects: (moved, ...rest) => surface.rects(rects(moved), ...rest),
    pattern: (moved, kind) => surface.pattern(rects(moved), kind),
    line: (x1, y1, x2, y2, ...rest) => surface.line(x1, y1 + dy, x2, y2 + dy, ...rest),
    path: (moved, ...rest) => surface.path(points(moved), ...rest),
    shape: (moved, ...rest) => surface.shape(points(moved), ...rest),
    text: (text, x, y, style) => surface.text(text, x, y + dy, style),
  }
}

function download(content: Blob, extension: FileKind, { name, at }: FigureFile): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = `plumbline-${name}-${new Date(at * 1000).toISOString().slice(0, 19).replaceAll(':', '')}Z.${extension}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** Saves a picture with a title that says what and when it is; or its numbers. */
export async function saveFigure(kind: FileKind, figure: FigureFile): Promise<void> {
  if (kind === 'csv') return download(new Blob([figure.csv()], { type: 'text/csv;charset=utf-8' }), kind, figure)
  const { width, height } = { ...figure, height: figure.height + TITLE_HEIGHT }
  const palette = readPalette()
  const title = `Plumbline: ${figure.title} as of ${timeText(figure.at)}`
  const paint = (surface: Surface): void => {
    surface.text(title, 12, 26, { colour: 'ink', size: 17, isBold: true })
    surface.text(`${figure.note} ${location.host}`, 12, 46, { colour: 'quiet', size: 12 })
    figure.paint(below(surface, TITLE_HEIGHT))
  }
  if (kind === 'svg') {
    const { surface, document } = svgSurface(width, height, palette)
    paint(surface)
    return download(new Blob([document(title)], { type: 'image/svg+xml' }), kind, figure)
  }
  const canvas = document.createElement('canvas')
  sizeCanvas(canvas, width, height, RATIO)
  const surface = canvasSurface(canvas, palette, RATIO)
  surface.rects([0, 0, width, height], 'paper')
  paint(surface)
  const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  if (png) download(png, kind, figure)
}
