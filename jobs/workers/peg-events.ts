import { detectPegEvents } from '../detect/peg-events.js'
import { runWorker } from '../schedule/run-worker.js'

await runWorker('peg-events', detectPegEvents)
