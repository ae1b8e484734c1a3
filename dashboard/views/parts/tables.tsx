import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** The title of a column; with `isNumber` it is aligned to the right. */
export type Column = { title: string; isNumber?: boolean }

/**
 * A table that scrolls sideways where it is too wide. `caption` is for who cannot see what is around it; of more rows than
 * `atFirst`, the rest is shown when it is asked for.
 */
export function Table({
  caption,
  columns,
  rows,
  atFirst = rows.length,
}: {
  caption: string
  columns: readonly Column[]
  atFirst?: number
  rows: readonly { key: string; id?: string; isMarked?: boolean; cells: readonly ComponentChildren[] }[]
}) {
  const isWhole = useSignal(false)
  const classOf = (i: number): string | undefined => (columns[i]?.isNumber ? 'number' : undefined)
  const table = (
    // A keyboard can scroll only what it can focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="scrolls" aria-label={caption} tabIndex={0}>
      <table class="plain">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title }, i) => (
              <th key={title} scope="col" class={classOf(i)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(isWhole.value ? rows : rows.slice(0, atFirst)).map(({ key, id, isMarked, cells }) => (
            <tr key={key} id={id} class={isMarked ? 'marked' : undefined}>
              {cells.map((cell, i) => (
                <td key={i} class={classOf(i)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
  if (rows.length <= atFirst) return table
  return (
    <>
      {table}
      <button
        type="button"
        class="more"
        aria-expanded={isWhole.value}
        onClick={() => {
          isWhole.value = !isWhole.value
        }}
      >
        {isWhole.value ? `Show only ${atFirst}` : `Show all ${rows.length}`}
      </button>
    </>
  )
}

/** The numbers behind a picture, made when they are asked for. */
export function Behind({ children }: { children: () => ComponentChildren }) {
  const isOpen = useSignal(false)
  return (
    <details
      class="behind"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>As a table</summary>
      {isOpen.value && children()}
    </details>
  )
}
