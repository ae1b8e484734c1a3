import type { Flow } from '../../clickhouse/flows/flows.js'
import { type Random, randomFor } from '../../local/chain/random.js'
import { flow, txHash } from './rows.js'

const WINDOW = 900

/**
 * Flows of (start, end] on different kinds of edges, in order of time: steady ones, rare ones, some that begin late,
 * fall silent or never vary, with bursts, with flows without a value, and occasionally two edges in one transaction.
 * The same seed gives the same flows for any `start`; blocks are numbered by their time.
 */
export function wildFlows(seed: number, start: number, end: number): Flow[] {
  const flows: Flow[] = []
  for (let edge = 0; edge < 10; edge++) {
    const random = randomFor(seed, 'flows', edge)
    const [from, to] = [1 + (edge % 4), 5 + Math.floor(edge / 2)]
    const perWindow = [3, 1, 1, 0.5, 0.2, 0.05, 0.015, 2, 1, 1][edge] as number
    const begin = edge === 8 ? start + (end - start) * 0.8 : start + random.int(0, 5000)
    // Even edges are regular except for occasional silences.
    const isEven = edge === 0 || edge === 7
    const isSilent = (at: number) =>
      isEven
        ? randomFor(seed, 'silence', edge, Math.floor((at - start) / WINDOW)).chance(0.03)
        : edge === 2 && Math.floor((at - start) / 30_000) % 3 === 0
    const step = () => Math.max(1, Math.round((WINDOW / perWindow) * (isEven ? 1 : 0.5 + random.next())))
    for (let at = begin; at < end; at += step()) {
      const size = isEven ? random.int(3_000_000, 3_300_000) : random.int(1_000_000, 9_000_000)
      const value = edge === 9 ? 5_000_000 : size * (!isEven && random.chance(0.02) ? 15 : 1)
      if (at <= start || isSilent(at)) continue
      const time = Math.floor(at)
      const usd_micros = random.chance(edge === 5 ? 0.4 : 0.03) ? null : `${value}`
      const hash = { tx_hash: txHash(random.chance(0.3) ? time : time * 100 + edge) }
      const one = { usd_micros, ...hash, log_index: edge * 2 }
      flows.push(flow(from, to, time, one))
      if (random.chance(0.2)) flows.push(flow(from, to, time, { ...one, log_index: edge * 2 + 1 }))
      if (random.chance(0.05))
        flows.push(flow(from, 0, time, { ...one, kind: 'bridge', to_token: '', log_index: 90 + edge }))
    }
  }
  return flows.sort((a, b) => a.block_time - b.block_time || a.log_index - b.log_index)
}

/** Flows on edges that are active for a while and silent for a while, one of them for up to a week, with bursts. */
export function fitfulFlows(random: Random, start: number, end: number): Flow[] {
  const flows: Flow[] = []
  for (let edge = 0; edge < 80; edge++) {
    let isActive = false
    for (let window = start; window < end; ) {
      const windows = random.int(1, isActive ? 60 : random.pick([3, 10, 50, edge === 0 ? 700 : 300]))
      for (let i = 0; i < windows && window < end; i++, window += WINDOW) {
        if (!isActive || !random.chance(edge % 2 ? 0.9 : 0.99)) continue
        const time = window + random.int(0, WINDOW - 1)
        const usd_micros = random.chance(0.02)
          ? null
          : `${random.int(4_000_000, 5_000_000) * (random.chance(0.01) ? 20 : 1)}`
        flows.push(flow(20 + edge, 120, time, { usd_micros, log_index: 500 + edge }))
      }
      isActive = !isActive
    }
  }
  return flows
}

/** The distinct times of these flows. */
export const timesOf = (flows: readonly Flow[]): number[] => [...new Set(flows.map(({ block_time }) => block_time))]
