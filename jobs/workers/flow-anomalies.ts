import { runWorker } from '../run-worker.js'
import { detectFlowAnomalies } from '../tasks/detect-flow-anomalies.js'

await runWorker('flow-anomalies', detectFlowAnomalies)
