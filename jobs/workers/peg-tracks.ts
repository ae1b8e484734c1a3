import { detectPegTracks } from '../detect/peg-tracks.js'
import { runSlotWorker } from '../schedule/run-worker.js'

await runSlotWorker('peg-tracks', { pass: detectPegTracks })
