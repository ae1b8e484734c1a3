import type { ComponentChildren } from 'preact'

/** Names and values, side by side. What has no value is left out with `false`. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren] | false)[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
