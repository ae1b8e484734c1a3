import type { FigureFile } from '../parts/save-figure.js'
import type { Scale } from '../state/place.js'
import { seriesCsv } from './csv.js'
import type { Picture } from './picture.js'
import { linesPlan, rowsPlan } from './plan.js'
import { summaryOf } from './stables.js'

const WIDTH = 1440
const HEIGHT = 860

/** The picture of the board as it is shown, with its names. */
export function boardFile(picture: Picture, shape: 'lines' | 'rows', scale: Scale): FigureFile {
  const plan = shape === 'lines' ? linesPlan(picture, WIDTH, HEIGHT, scale) : rowsPlan(picture, WIDTH, HEIGHT)
  return {
    name: 'pegs',
    title: 'pegs',
    note: `${summaryOf(picture.lanes.map(({ label, now }) => ({ name: label.text, standing: now })))} Basis points from 1.00 pathUSD.`,
    at: picture.end,
    width: plan.width,
    height: plan.height,
    paint: (surface) => {
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
    },
    csv: () =>
      seriesCsv(
        picture,
        picture.lanes.map(({ stable, series }) => ({ ...stable, series })),
      ),
  }
}
