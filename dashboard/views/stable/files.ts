import { seriesCsv } from '../../board/csv.js'
import { csvText, csvTime } from '../../parts/csv.js'
import { plainText } from '../../parts/names.js'
import type { FigureFile } from '../../parts/save-figure.js'
import { now } from '../../state/clock.js'
import { place } from '../../state/location.js'
import { type Plotted, paintPlot } from '../parts/plot-picture.js'
import { secondsOf } from './breaks.js'
import { cellValue, type DepthAnswer, layoutOf, paintDepth, SHADES, SIDES } from './depth-picture.js'
import type { PegBuckets } from './peg-picture.js'
import { COMPONENTS, inputsOf, type Risk } from './risk.js'
import type { SupplyAnswer } from './supply-picture.js'

/** The stable of a figure, and what it is called. */
export type About = { address: string; name: string }

const WIDTH = 1200
const PLOT_HEIGHT = 480
const CHANGES_HEIGHT = 200
const GAP = 16

const figureOf = (
  subject: string,
  what: string,
  { address, name }: About,
  rest: Pick<FigureFile, 'height' | 'paint' | 'csv'> & { note: string },
): FigureFile => ({
  ...rest,
  name: `${subject}-${address}`,
  title: `${name}, ${what},`,
  note: `${address}. ${rest.note}`,
  at: place.value.asOf ?? now(),
  width: WIDTH,
})

/** The distance from the peg. */
export const pegFile = (about: About, { from, step, count, series }: PegBuckets, plotted: Plotted): FigureFile =>
  figureOf('peg', 'distance from the peg', about, {
    note: 'Basis points from 1.00 pathUSD, and the price.',
    height: PLOT_HEIGHT,
    paint: (surface) => paintPlot(plotted, WIDTH, PLOT_HEIGHT, surface),
    csv: () => seriesCsv({ from, step, count, offset: 0 }, [{ address: about.address, symbol: series.symbol, series }]),
  })

/** Slippage by size. Without a sample a bucket is not in the numbers; with one and without a quote it is empty. */
export function depthFile(about: About, answer: DepthAnswer, span: { from: number; to: number }): FigureFile {
  const layout = layoutOf(answer, WIDTH, span)
  const rows = function* () {
    for (let bucket = 0; bucket < answer.bucket_count; bucket++) {
      const start = secondsOf(answer.from) + bucket * answer.step_seconds
      for (const side of SIDES)
        for (const [size, { size_tokens }] of answer.sizes.entries()) {
          const value = cellValue(answer, { side, size, bucket })
          if (value.is === 'unsampled') continue
          const bps = value.is === 'quoted' ? value.bps : null
          yield [about.address, csvTime(start), csvTime(start + answer.step_seconds), side, size_tokens, bps]
        }
    }
  }
  return figureOf('depth', 'slippage by size', about, {
    note: `Basis points, darker from ${SHADES.slice(1)
      .map(({ from }) => from)
      .join(', ')} on; hatched: no quote for this size.`,
    height: layout.height,
    paint: (surface) => paintDepth(answer, layout, surface),
    csv: () => csvText(['address', 'from', 'to', 'side', 'size_tokens', 'slippage_bps'], rows()),
  })
}

/** The supply above, mints and burns below. Amounts in the numbers are base units: six decimals. */
export const supplyFile = (
  about: About,
  data: SupplyAnswer['data'],
  { supply, changes }: { supply: Plotted; changes: Plotted },
): FigureFile =>
  figureOf('supply', 'supply, with what was minted (above) and burned (below)', about, {
    note: 'Tokens.',
    height: PLOT_HEIGHT + GAP + CHANGES_HEIGHT,
    paint: (surface) => {
      paintPlot(supply, WIDTH, PLOT_HEIGHT, surface)
      paintPlot(changes, WIDTH, CHANGES_HEIGHT, surface, PLOT_HEIGHT + GAP)
    },
    csv: () =>
      csvText(
        ['address', 'from', 'to', 'supply_raw', 'cap_raw', 'minted_raw', 'burned_raw'],
        data.map(({ bucket_start, bucket_end, supply, cap, minted, burned }) => [
          about.address,
          csvTime(secondsOf(bucket_start)),
          csvTime(secondsOf(bucket_end)),
          supply,
          cap,
          minted,
          burned,
        ]),
      ),
  })

const ROW = 40
const BAR = { left: 130, width: 200, height: 12 }
const LONGEST_INPUTS = 140

/** The score and its components as bars, with what they were computed from. */
export function riskFile(about: About, { composite, components, computed_at, methodology, inputs }: Risk): FigureFile {
  const texts = inputsOf(inputs)
  const scores = [
    { key: 'composite', title: 'Composite', score: composite, text: 'higher is riskier' },
    ...COMPONENTS.map(([key, title]) => ({ key, title, score: components[key], text: texts[key] })),
  ]
  return figureOf('risk', 'risk', about, {
    note: `Scores from 0 to 100, computed ${csvTime(secondsOf(computed_at))}, methodology ${plainText(methodology, 20)}.`,
    height: ROW * scores.length + GAP,
    paint: (surface) =>
      scores.forEach(({ title, score, text }, i) => {
        const base = GAP + ROW * i + 14
        const { left, width, height } = BAR
        surface.text(title, 12, base, { colour: 'ink', size: 13, isBold: i === 0 })
        surface.rects([left, base - height + 1, width, height], 'line')
        surface.rects([left, base - height + 1, (width * score) / 100, height], 'quiet')
        surface.text(score.toFixed(1), left + width + 12, base, { colour: 'ink', size: 13 })
        surface.text(plainText(text, LONGEST_INPUTS), left + width + 60, base, { colour: 'quiet', size: 11 })
      }),
    csv: () =>
      csvText(
        ['address', 'computed_at', 'methodology', 'component', 'score', 'inputs'],
        scores.map(({ key, score, text }) => [
          about.address,
          csvTime(secondsOf(computed_at)),
          methodology,
          key,
          score,
          text,
        ]),
      ),
  })
}
