import { LeaseValidity } from '../lease/term.js'
import { runWorker } from '../schedule/run-worker.js'
import { runWebhooks } from '../webhooks/dispatch/run.js'

const HEARTBEAT_MS = 1000

await runWorker(
  'webhooks',
  'webhooks have stopped',
  async ({ config: { SECRETS_KEY, ...config }, lease, log, signal, post }) => {
    // Without the key, the jobs do not start this worker.
    if (!SECRETS_KEY) return
    const validity = new LeaseValidity(lease.validity)
    const alive = setInterval(() => post('alive'), HEARTBEAT_MS)
    try {
      await runWebhooks({
        config: { ...config, SECRETS_KEY },
        instance: lease.instance,
        mayBegin: () => validity.isValid,
        log,
        signal,
      })
    } finally {
      clearInterval(alive)
    }
  },
)
