import { detectUnusualFlows } from '../detect/unusual-flows.js'
import { runSlotWorker } from '../schedule/run-worker.js'

await runSlotWorker('unusual-flows', detectUnusualFlows)
