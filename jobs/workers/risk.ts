import { runWorker } from '../run-worker.js'
import { snapshotRisk } from '../tasks/snapshot-risk.js'

await runWorker('risk', snapshotRisk)
