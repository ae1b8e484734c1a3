import { FLOW_ANOMALIES_TASK } from '../detect/flow-anomalies.js'
import { runSlotWorker } from '../schedule/run-worker.js'

await runSlotWorker('flow-anomalies', FLOW_ANOMALIES_TASK)
