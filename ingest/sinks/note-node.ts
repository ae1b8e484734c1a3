import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { CALL_OUTCOMES, type CallOutcome, insertNodeCalls, type NodeCalls } from '../../clickhouse/chain/node-calls.js'

/** Time between two notes, in milliseconds. */
const NOTE_MS = 10_000
const MINUTE_SECONDS = 60
const HOUR_MS = 3_600_000

export type NodeWatch = ReturnType<typeof createNodeWatch>

/** Counts calls to the node, and changes of the chain, over the time before now. `nowMs` is a monotonic clock. */
export function createNodeWatch(nowMs = () => performance.now()) {
  /** The calls of each second that had any, oldest first. */
  let seconds: Array<{ at: number; calls: Partial<Record<CallOutcome, number>> }> = []
  let changes: number[] = []
  const second = (): number => Math.floor(nowMs() / 1000)
  return {
    called: (outcome: CallOutcome): void => {
      const at = second()
      let last = seconds.at(-1)
      if (last?.at !== at) {
        last = { at, calls: {} }
        seconds.push(last)
      }
      last.calls[outcome] = (last.calls[outcome] ?? 0) + 1
    },
    chainChanged: (): void => void changes.push(nowMs()),
    /** Calls of the last minute, and changes of the last hour. */
    counts: (): NodeCalls => {
      const [oldest, hourAgo] = [second() - MINUTE_SECONDS, nowMs() - HOUR_MS]
      seconds = seconds.filter(({ at }) => at > oldest)
      changes = changes.filter((at) => at > hourAgo)
      const sum = (outcome: CallOutcome) => seconds.reduce((total, { calls }) => total + (calls[outcome] ?? 0), 0)
      const calls = Object.fromEntries(CALL_OUTCOMES.map((outcome) => [outcome, sum(outcome)]))
      return { ...(calls as Record<CallOutcome, number>), chain_changes: changes.length }
    },
  }
}

/**
 * Records how the node answers every few seconds, until the returned function is called. Only ingest talks to the node, so
 * nobody else can know; a failure is no reason to stop.
 */
export function noteNode(clickhouse: ClickHouseClient, watch: NodeWatch, log: Logger): () => void {
  let isWriting = false
  const timer = setInterval(() => {
    if (isWriting) return
    isWriting = true
    insertNodeCalls(clickhouse, watch.counts())
      .catch((error: Error) => log.debug({ reason: error.message }, 'the calls to the node could not be recorded'))
      .finally(() => {
        isWriting = false
      })
  }, NOTE_MS)
  return () => clearInterval(timer)
}
