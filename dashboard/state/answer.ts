import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask } from '../api/client.js'
import { Problem } from '../api/problem.js'
import { now } from './clock.js'

/** What is known of an answer. `data` stays while it is renewed, and while renewing it fails. */
export type Answered<Data> = {
  /** The path of `data`; differs from the requested one while that is loading. */
  path: string | null
  data: Data | null
  /** When `data` came, in unix seconds by the clock of the service. */
  at: number | null
  /** Why the last request failed; null if it did not. */
  problem: Problem | null
  isLoading: boolean
}

type Options = {
  /** Seconds after which it is asked again; never if omitted. */
  refreshSeconds?: number | undefined
  /** Sent as a bearer token. */
  key?: string | undefined
}

const EMPTY = { path: null, data: null, at: null, problem: null, isLoading: false }

/**
 * The answer to GET `path`, asked again when the path changes, after `refreshSeconds`, and after failures that pass; not
 * while the page is hidden. Nothing is asked for null. While another path loads, the data are still those of the old one
 * (`path` says so), so that a picture does not vanish.
 */
export function useAnswer<Data>(path: string | null, { refreshSeconds, key }: Options = {}): Signal<Answered<Data>> {
  const state = useSignal<Answered<Data>>(EMPTY)
  useEffect(() => {
    if (path === null) return
    const stopped = new AbortController()
    let timer = 0
    const isDue = { value: false }
    const after = (seconds: number): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (document.hidden) isDue.value = true
        else void load()
      }, seconds * 1000)
    }
    async function load(): Promise<void> {
      isDue.value = false
      state.value = { ...state.value, isLoading: true }
      try {
        const data = await ask<Data>(path as string, { key, signal: stopped.signal })
        state.value = { path, data, at: now(), problem: null, isLoading: false }
        if (refreshSeconds !== undefined) after(refreshSeconds)
      } catch (error) {
        if (stopped.signal.aborted) return
        const problem = error instanceof Problem ? error : new Problem('broken', String(error))
        state.value = { ...state.value, problem, isLoading: false }
        if (problem.retryAt !== null) after(Math.max(1, (problem.retryAt - Date.now()) / 1000))
        // What is not computed yet will be.
        else if (problem.kind === 'before-history' && refreshSeconds !== undefined) after(refreshSeconds)
      }
    }
    const wake = (): void => {
      if (!document.hidden && isDue.value) void load()
    }
    const retryNow = (): void => {
      if (state.value.problem?.kind === 'offline') void load()
    }
    document.addEventListener('visibilitychange', wake)
    addEventListener('online', retryNow)
    void load()
    return () => {
      stopped.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', wake)
      removeEventListener('online', retryNow)
    }
  }, [path, refreshSeconds, key])
  return state
}
