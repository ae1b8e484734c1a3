import { runWorker } from '../schedule/run-worker.js'
import { snapshotReserves } from '../snapshot/reserves.js'

await runWorker('reserves', snapshotReserves)
