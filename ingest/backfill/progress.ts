import { Presets, SingleBar } from 'cli-progress'

/** How often progress is printed where no bar can be drawn, in milliseconds. */
const PRINT_MS = 5000

export type Progress = { update: (blocks: number, rows: number) => void; stop: () => void }

/** Shows how many of `total` blocks are stored: as a bar if stderr is a terminal, else as a line every few seconds. */
export function showProgress(total: number): Progress {
  const startedAt = Date.now()
  const rate = (blocks: number) => Math.round(blocks / Math.max((Date.now() - startedAt) / 1000, 0.001))
  if (process.stderr.isTTY) {
    const format = '{bar} {value}/{total} blocks, {rate} blocks/s, {eta_formatted} left, {rows} rows'
    const bar = new SingleBar({ format }, Presets.shades_classic)
    bar.start(total, 0, { rate: 0, rows: 0 })
    return { update: (blocks, rows) => bar.update(blocks, { rate: rate(blocks), rows }), stop: () => bar.stop() }
  }
  let printedAt = startedAt
  return {
    update: (blocks, rows) => {
      if (Date.now() - printedAt < PRINT_MS) return
      printedAt = Date.now()
      const left = Math.round((total - blocks) / Math.max(rate(blocks), 1))
      console.log(`backfill is at ${blocks} of ${total} blocks: ${rate(blocks)} blocks/s, ${left} s left, ${rows} rows`)
    },
    stop: () => undefined,
  }
}
