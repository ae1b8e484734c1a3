import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { go, place } from '../state/location.js'

/** A key and what it does, as the list of keys shows it. */
export type Shortcut = { keys: readonly string[]; does: string; act: (key: string) => void }

/** The shortcuts of the view that is shown. A view sets them while it is shown. */
export const viewShortcuts = signal<readonly Shortcut[]>([])

const isListed = signal(false)

const COMMON: readonly Shortcut[] = [
  {
    keys: ['L', 'l'],
    does: 'back to now',
    act: () => {
      if (place.value.asOf !== null) go({ asOf: null })
    },
  },
  {
    keys: ['?'],
    does: 'show or hide this list',
    act: () => {
      isListed.value = !isListed.value
    },
  },
]

/** Whether somebody is writing: then keys are letters. */
const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:TEXTAREA|SELECT)$/.test(target.tagName) || isText(target))

const isText = (element: HTMLElement): boolean =>
  element instanceof HTMLInputElement && !/^(?:range|checkbox|radio|button)$/.test(element.type)

/** Listens for the shortcuts, and shows the list of them. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
      const shortcut = [...viewShortcuts.value, ...COMMON].find(({ keys }) => keys.includes(event.key))
      if (!shortcut) return
      event.preventDefault()
      shortcut.act(event.key)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  useEffect(() => {
    if (isListed.value) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isListed.value])
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-labelledby="keys-title"
      onClose={() => {
        isListed.value = false
      }}
    >
      <h2 id="keys-title">Keys</h2>
      <dl>
        {[...viewShortcuts.value, ...COMMON].map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys
                .filter((key, i) => !keys.slice(0, i).some((other) => other.toLowerCase() === key.toLowerCase()))
                .map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <button
        type="button"
        onClick={() => {
          isListed.value = false
        }}
      >
        Close
      </button>
    </dialog>
  )
}
