import { runWorker } from '../run-worker.js'
import { detectPegEvents } from '../tasks/detect-peg-events.js'

await runWorker('peg-events', detectPegEvents)
