import { detectPegEvents } from '../detect/peg-events.js'
import { runSlotWorker } from '../schedule/run-worker.js'

await runSlotWorker('peg-events', { pass: detectPegEvents })
