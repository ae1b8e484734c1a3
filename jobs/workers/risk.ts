import { runSlotWorker } from '../schedule/run-worker.js'
import { snapshotRisk } from '../snapshot/risk.js'

await runSlotWorker('risk', snapshotRisk)
