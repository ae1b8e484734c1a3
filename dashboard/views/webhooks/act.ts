import { useSignal } from '@preact/signals'
import { ask, type Init } from '../../api/client.js'
import { Problem } from '../../api/problem.js'
import { adminKey } from './key.js'

/** What a button did: nothing yet, something in words, or a problem. */
type Outcome = { text: string; isProblem: boolean } | null

/** Writes with the admin key, one request at a time, and keeps what came of it in words. */
export function useAct() {
  const isBusy = useSignal(false)
  const outcome = useSignal<Outcome>(null)
  async function act<Answer>(
    path: string,
    init: Pick<Init, 'method' | 'body'>,
    describe: (answer: Answer) => string,
  ): Promise<void> {
    if (isBusy.value || adminKey.value === null) return
    isBusy.value = true
    try {
      const answer = await ask<Answer>(path, { ...init, key: adminKey.value })
      outcome.value = { text: describe(answer), isProblem: false }
    } catch (error) {
      const text = error instanceof Problem ? error.message : String(error)
      outcome.value = { text: `It was not done: ${text}`, isProblem: true }
    } finally {
      isBusy.value = false
    }
  }
  return { act, isBusy, outcome }
}
