import { chainBlock, head, link } from '../live/live.js'
import { go, place } from '../state/location.js'
import { elsewhere, hrefOf, type View } from '../state/place.js'
import { ageText, integerText, timeText } from './figures.js'

const VIEWS: readonly [View, string][] = [
  ['board', 'Pegs'],
  ['flows', 'Flows'],
  ['events', 'Events'],
  ['status', 'Status'],
  ['webhooks', 'Webhooks'],
]

const WORDS = { live: 'Live', stale: 'Stale', reading: 'Catching up', connecting: 'Connecting' } as const

/** The moment that the page shows: now, with the newest block and its age, or a moment of the past. */
export function Moment() {
  const { asOf } = place.value
  const { state, reason, ageSeconds } = link.value
  const block = head.value
  return (
    <section class="moment" aria-label="What the page shows">
      {asOf !== null && (
        <p class="past">
          As known at <time dateTime={new Date(asOf * 1000).toISOString()}>{timeText(asOf)}</time>
          <button type="button" onClick={() => go({ asOf: null })}>
            Live <kbd>L</kbd>
          </button>
        </p>
      )}
      <p class={`link ${state}`} title={reason ?? undefined}>
        <span class="dot" aria-hidden="true" />
        <span class="word">{WORDS[state]}</span>
        {block && (
          <span class="block">
            block {integerText(block.block_number)}
            {state === 'reading' && chainBlock.value !== null && ` of ${integerText(chainBlock.value)}`},{' '}
            <span class="age">{ageText(ageSeconds ?? 0)} ago</span>
          </span>
        )}
      </p>
    </section>
  )
}

/** The head of the page: its name, its views, and the moment that it shows. */
export function Header() {
  const current = place.value
  return (
    <header class="head">
      <a class="brand" href={hrefOf(elsewhere(current, 'board'))}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <path d="M5 4h22M16 4v13" />
          <path class="bob" d="M11 17h10l-5 12z" />
        </svg>
        Plumbline
      </a>
      <nav aria-label="Views">
        {VIEWS.map(([view, title]) => (
          <a
            key={view}
            href={hrefOf(elsewhere(current, view))}
            aria-current={view === current.view ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
        <a href="/methodology" class="outside">
          Methodology
        </a>
        <a href="/docs" class="outside">
          API
        </a>
      </nav>
      <Moment />
    </header>
  )
}
