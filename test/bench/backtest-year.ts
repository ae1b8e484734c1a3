// How long a backtest over a year of one stable takes, at one sample a second.

import { inSeconds } from '../../process/command-line.js'
import { DAY_SECONDS } from '../../process/instants.js'
import { DEFAULT_DETECTORS } from '../../tools/backtest/detectors.js'
import { runDetectors } from '../../tools/backtest/run.js'
import { generatedStable, generateSamples } from './generate.js'
import { median, timed } from './measure.js'
import { rows, startStack } from './stack.js'

const SAMPLES = 365 * DAY_SECONDS
const START = 1_735_689_600
const ROUNDS = 3

const stack = await startStack()
try {
  const { clickhouse } = await stack.database('year')
  await generateSamples(clickhouse, { stables: 1, samples: SAMPLES, perSecond: 1, end: START + SAMPLES })
  const year = { stable: generatedStable(0), from: START, to: START + SAMPLES }
  const signal = new AbortController().signal
  const plain = DEFAULT_DETECTORS.filter(({ agree_tokens }) => agree_tokens === null)
  const times = { plain: [] as number[], all: [] as number[], scan: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    times.plain.push(await timed(() => runDetectors(clickhouse, plain, year, signal)))
    times.all.push(await timed(() => runDetectors(clickhouse, DEFAULT_DETECTORS, year, signal)))
    times.scan.push(
      await timed(() => rows(clickhouse, 'SELECT countIf(abs(deviation_micros) > 1000) FROM peg_samples')),
    )
  }
  for (const [name, own] of [
    ['the two published tracks', times.plain],
    ['all four detectors, two of them with the prices of two sizes', times.all],
    ['the engine alone counting the samples outside 10 bps', times.scan],
  ] as const)
    console.log(`a year of one stable, ${SAMPLES} samples, ${name}: ${inSeconds(median(own))}`)
} finally {
  await stack.close()
}
