import { computed, signal } from '@preact/signals'
import { hrefOf, type Place, placeOf } from './place.js'

const current = signal(placeOf(location.pathname, location.search))

/** What is shown, as the address bar says. */
export const place = computed(() => current.value)

/** Shows something else and puts its URL into the address bar: as a new entry of the history, or instead of this one. */
export function go(to: Partial<Place>, how: 'push' | 'replace' = 'push'): void {
  const next = { ...current.value, ...to }
  const href = hrefOf(next)
  if (href !== location.pathname + location.search) history[`${how}State`](null, '', href)
  current.value = next
}

const isPlain = (event: MouseEvent): boolean =>
  event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)

/** Follows links to other views without loading the page again, and the buttons of the browser. */
export function followAddressBar(): void {
  addEventListener('popstate', () => {
    current.value = placeOf(location.pathname, location.search)
  })
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a')
    if (!link || !isPlain(event) || event.defaultPrevented) return
    if (link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return
    const next = placeOf(link.pathname, link.search)
    if (next.view === 'nowhere') return
    event.preventDefault()
    go(next)
    scrollTo(0, 0)
  })
}
