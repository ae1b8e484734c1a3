import { shortText } from '../../parts/figures.js'
import { type Labels, labelText, StableLink } from '../parts/stables.js'

export type Edge = {
  from_address: string
  to_address: string
  from: string
  to: string
  /** Decimal text. */
  volume_usd: string
  tx_count: number
  unvalued_count: number
}

/** With more stables than this, the names above the columns are written upwards, so that a column is as wide as its numbers. */
const MOST_FLAT = 10

/** The darkest cell still has legible text on it. */
const MOST_SHADE = 45

/** In percent, of the square root of the volume: of its logarithm, nearly all cells would look alike. */
export const shadeOf = (usd: number, most: number): number =>
  usd <= 0 ? 0 : Math.max(2, MOST_SHADE * Math.sqrt(usd / most))

function Cell({ edge, most, title }: { edge: Edge | undefined; most: number; title: string }) {
  if (!edge) return <td class="number nothing">·</td>
  const usd = Number(edge.volume_usd)
  const unvalued = edge.unvalued_count > 0 ? `, ${edge.unvalued_count} more without a value` : ''
  return (
    <td
      class="number"
      title={`${title}: $${shortText(usd)} in ${edge.tx_count} transaction${edge.tx_count === 1 ? '' : 's'}${unvalued}`}
      style={{ background: `color-mix(in srgb, var(--above) ${shadeOf(usd, most).toFixed(0)}%, transparent)` }}
    >
      {shortText(usd)}
      {edge.unvalued_count > 0 && '*'}
    </td>
  )
}

/** What flowed from the stable of each row to that of each column; `order`: their addresses. */
export function Matrix({ edges, order, labels }: { edges: readonly Edge[]; order: readonly string[]; labels: Labels }) {
  const byEnds = new Map(edges.map((edge) => [`${edge.from_address} ${edge.to_address}`, edge]))
  const most = Math.max(0, ...edges.map(({ volume_usd }) => Number(volume_usd)))
  const caption = 'US dollars from the stable of the row to the stable of the column'
  return (
    // A keyboard can scroll only what it can focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="scrolls grid" aria-label={caption} tabIndex={0}>
      <table class={`plain matrix${order.length > MOST_FLAT ? ' many' : ''}`}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">from, to</th>
            {order.map((to) => (
              <th key={to} scope="col" class="number">
                <StableLink labels={labels} address={to} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {order.map((from) => (
            <tr key={from}>
              <th scope="row">
                <StableLink labels={labels} address={from} />
              </th>
              {order.map((to) => (
                <Cell
                  key={to}
                  edge={byEnds.get(`${from} ${to}`)}
                  most={most}
                  title={`${labelText(labels, from)} to ${labelText(labels, to)}`}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
