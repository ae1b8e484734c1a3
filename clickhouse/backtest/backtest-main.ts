import { PlumblineError } from '../../process/errors.js'
import { runCommand } from '../../process/run-process.js'
import { connect } from '../store/client.js'
import { pricedStables } from './prices.js'
import { reportOf, SHOWN } from './report.js'
import { HELP, parseRequest } from './request.js'
import { runDetectors, type StableRun } from './run.js'

/** A year of one stable is read in one statement. */
const TIMEOUT_MS = 3_600_000

class NothingToTestError extends PlumblineError {
  constructor() {
    super('no stable had a price in this range', { retryable: false })
  }
}

await runCommand('backtest', async () => {
  const request = parseRequest(process.argv.slice(2), process.env, new Date())
  if (!request) {
    console.log(HELP)
    return
  }
  const { settings, range, detectors, labels, format } = request
  const clickhouse = connect(settings, { application: 'plumbline-backtest', requestTimeoutMs: TIMEOUT_MS })
  try {
    const stables = request.stables ?? (await pricedStables(clickhouse, range))
    if (stables.length === 0) throw new NothingToTestError()
    const runs: StableRun[][] = []
    for (const stable of stables)
      runs.push(await runDetectors(clickhouse, detectors, { stable, ...range }, new AbortController().signal))
    console.log(SHOWN[format](reportOf(detectors, runs, labels, range)))
  } finally {
    await clickhouse.close()
  }
})
