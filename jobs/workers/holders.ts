import { runSlotWorker } from '../schedule/run-worker.js'
import { snapshotHolders } from '../snapshot/holders.js'

await runSlotWorker('holders', snapshotHolders)
