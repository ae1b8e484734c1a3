import { detectFlowAnomalies } from '../detect/flow-anomalies.js'
import { runSlotWorker } from '../schedule/run-worker.js'

await runSlotWorker('flow-anomalies', detectFlowAnomalies)
