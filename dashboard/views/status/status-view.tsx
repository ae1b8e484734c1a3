import { Notice } from '../../parts/states.js'

/** Not shown yet; its data is in the API. */
export function StatusView() {
  return (
    <Notice title="Status">
      This view is not ready. <a href="/docs">The reference</a> has its data.
    </Notice>
  )
}
