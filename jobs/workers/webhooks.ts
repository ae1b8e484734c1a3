import { LeaseValidity } from '../lease/term.js'
import { runContinuousWorker } from '../schedule/run-worker.js'
import { runWebhooks } from '../webhooks/dispatch/run.js'

await runContinuousWorker(
  'webhooks',
  'webhooks have stopped',
  async ({ config: { SECRETS_KEY, ...config }, lease, log, signal }) => {
    // Without the key, the jobs do not start this worker.
    if (!SECRETS_KEY) return
    const validity = new LeaseValidity(lease.validity)
    await runWebhooks({
      config: { ...config, SECRETS_KEY },
      instance: lease.instance,
      mayBegin: () => validity.isValid,
      log,
      signal,
    })
  },
)
