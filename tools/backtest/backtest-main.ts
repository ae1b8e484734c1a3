import type { ClickHouseClient } from '@clickhouse/client'
import { readLedger } from '../../clickhouse/chain/ledger.js'
import { connect } from '../../clickhouse/store/client.js'
import { PlumblineError } from '../../process/errors.js'
import { runCommand } from '../../process/run-process.js'
import { checkFlowLabels, edgesBefore } from './flow-labels.js'
import { flowReportOf, SHOWN_FLOWS } from './flow-report.js'
import { runFlowDetectors } from './flow-run.js'
import { pricedStables } from './prices.js'
import { reportOf, SHOWN } from './report.js'
import { HELP, parseRequest, type Request } from './request.js'
import { runDetectors, type StableRun } from './run.js'

/** A year of one stable is read in one statement. */
const TIMEOUT_MS = 3_600_000

class NothingToTestError extends PlumblineError {
  constructor(what: string) {
    super(`no ${what} in this range`, { retryable: false })
  }
}

const never = new AbortController().signal

async function pegsText(clickhouse: ClickHouseClient, request: Extract<Request, { kind: 'pegs' }>): Promise<string> {
  const { range, detectors, labels, format } = request
  const stables = request.stables ?? (await pricedStables(clickhouse, range))
  if (stables.length === 0) throw new NothingToTestError('stable had a price')
  const runs: StableRun[][] = []
  for (const stable of stables) runs.push(await runDetectors(clickhouse, detectors, { stable, ...range }, never))
  return SHOWN[format](reportOf(detectors, runs, labels, range))
}

async function flowsText(clickhouse: ClickHouseClient, request: Extract<Request, { kind: 'flows' }>): Promise<string> {
  const { range, detectors, labels, stables, format } = request
  if (labels) checkFlowLabels(labels, range, await edgesBefore(clickhouse, range))
  const { ledger } = await readLedger(clickhouse, {})
  const run = await runFlowDetectors(clickhouse, detectors, range, { ledger, labels: labels ?? [], stables }, never)
  if (run.edges.length === 0) throw new NothingToTestError('edge had a score')
  return SHOWN_FLOWS[format](flowReportOf(detectors, run, labels))
}

await runCommand('backtest', async () => {
  const request = parseRequest(process.argv.slice(2), process.env, new Date())
  if (!request) {
    console.log(HELP)
    return
  }
  const clickhouse = connect(request.settings, { application: 'plumbline-backtest', requestTimeoutMs: TIMEOUT_MS })
  try {
    console.log(await (request.kind === 'flows' ? flowsText(clickhouse, request) : pegsText(clickhouse, request)))
  } finally {
    await clickhouse.close()
  }
})
