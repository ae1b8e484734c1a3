import { Notice } from '../../parts/states.js'

/** Not shown yet; its data is in the API. */
export function WebhooksView() {
  return (
    <Notice title="Webhooks">
      This view is not ready. <a href="/docs">The reference</a> has its data.
    </Notice>
  )
}
