import { signal, useSignal } from '@preact/signals'

/** The admin key, until the page is closed or it is forgotten: it is in no storage and in no URL. */
export const adminKey = signal<string | null>(null)

/** Asks for the key, or forgets it. */
export function KeyForm() {
  const typed = useSignal('')
  if (adminKey.value !== null)
    return (
      <p class="controls">
        <span>The admin key is kept until this page is closed.</span>
        <button
          type="button"
          onClick={() => {
            adminKey.value = null
          }}
        >
          Forget the key
        </button>
      </p>
    )
  return (
    <form
      class="controls"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed.value !== '') adminKey.value = typed.value
        typed.value = ''
      }}
    >
      <label>
        Admin key
        <input
          type="password"
          autocomplete="off"
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
          }}
        />
      </label>
      <button type="submit">Use it</button>
    </form>
  )
}
