import { runWorker } from '../schedule/run-worker.js'
import { snapshotRisk } from '../snapshot/risk.js'

await runWorker('risk', snapshotRisk)
