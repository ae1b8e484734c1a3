import { detectFlowAnomalies } from '../detect/flow-anomalies.js'
import { runWorker } from '../schedule/run-worker.js'

await runWorker('flow-anomalies', detectFlowAnomalies)
