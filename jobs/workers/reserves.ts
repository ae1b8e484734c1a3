import { runWorker } from '../run-worker.js'
import { snapshotReserves } from '../tasks/snapshot-reserves.js'

await runWorker('reserves', snapshotReserves)
