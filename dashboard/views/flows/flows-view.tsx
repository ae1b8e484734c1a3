import { Notice } from '../../parts/states.js'

/** Not shown yet; its data is in the API. */
export function FlowsView() {
  return (
    <Notice title="Flows">
      This view is not ready. <a href="/docs">The reference</a> has its data.
    </Notice>
  )
}
