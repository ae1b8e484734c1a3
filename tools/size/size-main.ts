import { connect } from '../../clickhouse/store/client.js'
import { PlumblineError } from '../../process/errors.js'
import { fetchMetrics, type MetricsText } from '../../process/metrics-text.js'
import { runCommand } from '../../process/run-process.js'
import { estimate } from './estimate.js'
import { measure } from './measured.js'
import { processFigures } from './processes.js'
import { asText, reportOf } from './report.js'
import { HELP, parseRequest } from './request.js'
import { serverFigures } from './server.js'

/** Counting the rows of a day may take long on a large database. */
const TIMEOUT_MS = 600_000

class NothingToMeasureError extends PlumblineError {
  constructor() {
    super('fewer than two blocks are stored in this time: let ingest run for ten minutes first', { retryable: true })
  }
}

await runCommand('size', async () => {
  const request = parseRequest(process.argv.slice(2), process.env)
  if (!request) {
    console.log(HELP)
    return
  }
  const { settings, json } = request
  const clickhouse = connect(settings, { application: 'plumbline-size', requestTimeoutMs: TIMEOUT_MS })
  try {
    const measured = await measure(clickhouse, (settings['--minutes'] ?? 0) * 60)
    if (!measured) throw new NothingToMeasureError()
    const server = await serverFigures(clickhouse)
    const token = typeof settings.METRICS === 'object' ? settings.METRICS.token : null
    const metrics: MetricsText[] = []
    const unread: string[] = []
    for (const url of settings['--metrics']) {
      await fetchMetrics(url, token).then(
        (text) => metrics.push(text),
        (error: Error) => unread.push(`${new URL(url).host}: ${error.message}`),
      )
    }
    const wanted = {
      transactionsPerSecond: settings['--tx-per-second'],
      stables: settings['--stables'],
      blockSeconds: settings['--block-time'],
      retainFeesDays: settings['--retain'],
      days: settings['--days'],
      replicas: settings['--replicas'],
    }
    const report = reportOf({
      measured,
      wanted,
      requestsPerSecond: settings['--requests-per-second'] ?? null,
      needs: estimate(measured, wanted),
      processes: processFigures(metrics, Date.now() / 1000),
      server,
      unread,
    })
    console.log(json ? JSON.stringify(report, null, 2) : asText(report))
  } finally {
    await clickhouse.close()
  }
})
