/** The views of the page. Their paths are those that the service answers with the page. */
export type View = 'board' | 'stable' | 'flows' | 'events' | 'status' | 'webhooks' | 'nowhere'

export const WINDOWS = ['1h', '6h', '24h', '7d'] as const
type Window = (typeof WINDOWS)[number]

export const SORTS = ['symbol', 'deviation', 'worst', 'risk', 'supply'] as const
export type Sort = (typeof SORTS)[number]

/** How large small deviations are drawn: basis points up to which the scale is nearly linear. */
export const SCALES = ['fine', 'normal', 'coarse'] as const
export type Scale = (typeof SCALES)[number]

export const SHAPES = ['lines', 'rows', 'table'] as const
/** How the board shows the stables; null is what suits the screen. */
export type Shape = (typeof SHAPES)[number]

/** All that the URL says about what is shown. */
export type Place = {
  view: View
  /** Shown in a frame of another page: without the head and the controls. */
  isFramed: boolean
  /** Of the stable, lower case; null on the other views. */
  address: string | null
  /** Unix seconds; null is live. */
  asOf: number | null
  window: Window
  sort: Sort
  /** Addresses, in the order in which they were pinned. */
  pins: readonly string[]
  scale: Scale
  shape: Shape | null
  search: string
  /** Parameters of single views, such as the filter of the events. */
  more: Readonly<Record<string, string>>
}

/** In front of the paths of framed views. */
const FRAME = /^\/embed(?=\/|$)/

const ADDRESS = /^0x[0-9a-f]{40}$/
const PATHS: Partial<Record<string, View>> = {
  '/': 'board',
  '/flows': 'flows',
  '/events': 'events',
  '/status': 'status',
  '/webhooks': 'webhooks',
}
/** More pins than this are not read from a URL, which could be of any length. */
const MOST_PINS = 40
const LONGEST_SEARCH = 100
const KNOWN = new Set(['as_of', 'w', 'sort', 'pin', 'scale', 'shape', 'q'])

/** ISO 8601: a day, or a time of UTC. */
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z)?$/

const oneOf = <Value extends string>(values: readonly Value[], text: string | null): Value | null =>
  values.find((value) => value === text) ?? null

/** An instant of the URL, in unix seconds or ISO 8601; null for anything else. */
function instantOf(text: string | null): number | null {
  if (text === null) return null
  const ms = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : ISO.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(ms) && ms > 0 ? Math.floor(ms / 1000) : null
}

/** Unix seconds as ISO 8601 without milliseconds. */
const isoOf = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** What a URL shows. What it has wrong counts as left out, so that every URL shows something. */
export function placeOf(path: string, query: string): Place {
  const params = new URLSearchParams(query)
  const isFramed = FRAME.test(path)
  const trimmed = path.replace(FRAME, '').replace(/\/+$/, '') || '/'
  const address = /^\/s\/([^/]+)$/.exec(trimmed)?.[1]?.toLowerCase() ?? null
  const pins = (params.get('pin') ?? '').toLowerCase().split(',')
  return {
    view: address === null ? (PATHS[trimmed] ?? 'nowhere') : 'stable',
    isFramed,
    address,
    asOf: instantOf(params.get('as_of')),
    window: oneOf(WINDOWS, params.get('w')) ?? '24h',
    sort: oneOf(SORTS, params.get('sort')) ?? 'symbol',
    pins: [...new Set(pins.filter((pin) => ADDRESS.test(pin)))].slice(0, MOST_PINS),
    scale: oneOf(SCALES, params.get('scale')) ?? 'normal',
    shape: oneOf(SHAPES, params.get('shape')),
    search: (params.get('q') ?? '').slice(0, LONGEST_SEARCH),
    more: Object.fromEntries([...params].filter(([name]) => !KNOWN.has(name))),
  }
}

/** The URL that shows it, without what is the default anyway. */
export function hrefOf({
  view,
  isFramed,
  address,
  asOf,
  window,
  sort,
  pins,
  scale,
  shape,
  search,
  more,
}: Place): string {
  const params = new URLSearchParams(more)
  if (asOf !== null) params.set('as_of', isoOf(asOf))
  if (window !== '24h') params.set('w', window)
  if (sort !== 'symbol') params.set('sort', sort)
  if (pins.length > 0) params.set('pin', pins.join(','))
  if (scale !== 'normal') params.set('scale', scale)
  if (shape !== null) params.set('shape', shape)
  if (search !== '') params.set('q', search)
  const own = view === 'stable' ? `/s/${address}` : view === 'board' || view === 'nowhere' ? '/' : `/${view}`
  const path = isFramed ? `/embed${own.replace(/\/$/, '')}` : own
  // Both are legible in an address bar, and need no escape in a query.
  const query = params.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
  return query === '' ? path : `${path}?${query}`
}

/** The same moment on another view: what only concerns the board is left behind. */
export const elsewhere = (place: Place, view: View, address: string | null = null): Place => ({
  ...place,
  view,
  address,
  more: {},
})
