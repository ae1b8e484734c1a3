import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Board } from '../board/board.js'
import { Loading, Notice } from '../parts/states.js'
import type { View } from '../state/place.js'

type Loader = () => Promise<ComponentType>

/** The views that are loaded when they are first opened, so that the board comes first. */
const LAZY: Record<Exclude<View, 'board' | 'nowhere'>, Loader> = {
  stable: () => import('./stable/stable-view.js').then(({ StableView }) => StableView),
  flows: () => import('./flows/flows-view.js').then(({ FlowsView }) => FlowsView),
  events: () => import('./events/events-view.js').then(({ EventsView }) => EventsView),
  status: () => import('./status/status-view.js').then(({ StatusView }) => StatusView),
  webhooks: () => import('./webhooks/webhooks-view.js').then(({ WebhooksView }) => WebhooksView),
}

const TITLES: Record<View, string> = {
  board: 'Pegs',
  stable: 'A stable',
  flows: 'Flows',
  events: 'Events',
  status: 'Status',
  webhooks: 'Webhooks',
  nowhere: 'Nothing here',
}

function Lazy({ load }: { load: Loader }) {
  const loaded = useSignal<ComponentType | null>(null)
  const hasFailed = useSignal(false)
  useEffect(() => {
    load().then(
      (View) => {
        loaded.value = View
      },
      () => {
        hasFailed.value = true
      },
    )
  }, [load])
  const View = loaded.value
  if (View) return <View />
  if (hasFailed.value)
    return <Notice title="This view could not be loaded">The service may have been updated. Reload the page.</Notice>
  return <Loading what="the view" />
}

/** The view of that name. */
export function ViewOf({ view }: { view: View }) {
  useEffect(() => {
    document.title = view === 'board' ? 'Plumbline' : `${TITLES[view]} – Plumbline`
  }, [view])
  if (view === 'board') return <Board />
  if (view === 'nowhere') return <Notice title={TITLES.nowhere}>There is no such page.</Notice>
  return <Lazy key={view} load={LAZY[view]} />
}
