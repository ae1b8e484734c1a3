/** The colours of a picture, by what they mean; the theme says what they are. */
export const COLOURS = ['paper', 'ink', 'quiet', 'line', 'guide', 'above', 'below', 'hatch', 'mark'] as const
export type Colour = (typeof COLOURS)[number]
export type Palette = Readonly<Record<Colour, string>>

/** Rectangles as x, y, width, height, one after the other: there are tens of thousands. */
export type Rects = number[]

type TextStyle = {
  colour: Colour
  size: number
  align?: 'start' | 'middle' | 'end'
  isBold?: boolean
  /** Read upwards. */
  isTurned?: boolean
}

type ShapeStyle = { outline?: Colour; opacity?: number }

/** What pictures are painted on: the screen, or a file. */
export type Surface = {
  rects: (rects: Rects, colour: Colour, opacity?: number) => void
  /** Filled with a pattern instead of a colour: hatched where there was no quote, dotted where nothing was measured. */
  pattern: (rects: Rects, kind: 'hatch' | 'dots') => void
  line: (x1: number, y1: number, x2: number, y2: number, colour: Colour, width: number) => void
  /** An open line through points (x, y, one after the other). */
  path: (points: readonly number[], colour: Colour, width: number) => void
  /** A closed shape through points. */
  shape: (points: readonly number[], colour: Colour, style?: ShapeStyle) => void
  text: (text: string, x: number, y: number, style: TextStyle) => void
}
