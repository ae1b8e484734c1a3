import { runSlotWorker } from '../schedule/run-worker.js'
import { snapshotReserves } from '../snapshot/reserves.js'

await runSlotWorker('reserves', snapshotReserves)
