import { COLOURS, type Colour, type Palette, type Surface } from './surface.js'

/** The colours of the page's theme, as they are now. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement)
  return Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Palette
}

const TILE = 6

function tile(kind: 'hatch' | 'dots', colour: string, ratio: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = TILE * ratio
  const pen = canvas.getContext('2d') as CanvasRenderingContext2D
  pen.scale(ratio, ratio)
  pen.strokeStyle = pen.fillStyle = colour
  if (kind === 'dots') pen.fillRect(TILE / 2 - 0.5, TILE / 2 - 0.5, 1, 1)
  else {
    pen.lineWidth = 1
    pen.beginPath()
    for (const shift of [-TILE, 0, TILE]) {
      pen.moveTo(shift, TILE)
      pen.lineTo(shift + TILE, 0)
    }
    pen.stroke()
  }
  return canvas
}

/** Sets the size of a canvas, in CSS pixels, for a screen of this pixel ratio; empties it. */
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  const [columns, lines] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width === columns && canvas.height === lines) {
    // Much faster than new memory for every move of the pointer.
    const pen = canvas.getContext('2d')
    pen?.setTransform(1, 0, 0, 1, 0, 0)
    pen?.clearRect(0, 0, columns, lines)
    return
  }
  canvas.width = columns
  canvas.height = lines
  canvas.style.width = `${width}px`
  canvas.style.height = `${height}px`
}

/** Paints on a canvas in CSS pixels. */
export function canvasSurface(canvas: HTMLCanvasElement, palette: Palette, ratio: number): Surface {
  const pen = canvas.getContext('2d') as CanvasRenderingContext2D
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  const family = getComputedStyle(document.body).fontFamily
  const fill = (rects: readonly number[]): void => {
    // Faster than one path of ten thousand rectangles.
    for (let i = 0; i < rects.length; i += 4)
      pen.fillRect(rects[i] as number, rects[i + 1] as number, rects[i + 2] as number, rects[i + 3] as number)
  }
  const colourOf = (colour: Colour): string => palette[colour]
  return {
    rects: (rects, colour, opacity = 1) => {
      pen.globalAlpha = opacity
      pen.fillStyle = colourOf(colour)
      fill(rects)
      pen.globalAlpha = 1
    },
    pattern: (rects, kind) => {
      if (rects.length === 0) return
      const pattern = pen.createPattern(tile(kind, colourOf('hatch'), ratio), 'repeat') as CanvasPattern
      pattern.setTransform(new DOMMatrix().scale(1 / ratio))
      pen.fillStyle = pattern
      fill(rects)
    },
    line: (x1, y1, x2, y2, colour, width) => {
      pen.strokeStyle = colourOf(colour)
      pen.lineWidth = width
      pen.beginPath()
      pen.moveTo(x1, y1)
      pen.lineTo(x2, y2)
      pen.stroke()
    },
    path: (points, colour, width) => {
      pen.strokeStyle = colourOf(colour)
      pen.lineWidth = width
      pen.lineJoin = 'round'
      pen.beginPath()
      for (let i = 0; i < points.length; i += 2) pen.lineTo(points[i] as number, points[i + 1] as number)
      pen.stroke()
    },
    shape: (points, colour, { outline, opacity = 1 } = {}) => {
      pen.beginPath()
      for (let i = 0; i < points.length; i += 2) pen.lineTo(points[i] as number, points[i + 1] as number)
      pen.closePath()
      pen.globalAlpha = opacity
      pen.fillStyle = colourOf(colour)
      pen.fill()
      pen.globalAlpha = 1
      if (outline === undefined) return
      pen.strokeStyle = colourOf(outline)
      pen.lineWidth = 1.25
      pen.stroke()
    },
    text: (text, x, y, { colour, size, align = 'start', isBold = false, isTurned = false }) => {
      pen.fillStyle = colourOf(colour)
      pen.font = `${isBold ? 600 : 400} ${size}px ${family}`
      pen.textAlign = align === 'middle' ? 'center' : align
      pen.textBaseline = 'alphabetic'
      if (!isTurned) return pen.fillText(text, x, y)
      pen.save()
      pen.translate(x, y)
      pen.rotate(-Math.PI / 2)
      pen.fillText(text, 0, 0)
      pen.restore()
    },
  }
}
