import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { EdgeScore } from '../../clickhouse/flows/edge-scores.js'
import type { Flow } from '../../clickhouse/flows/flows.js'
import { differences } from '../../tools/verify/answers/differences.js'
import { timesOf } from './flow-market.js'
import { addBlocks, addFacts } from './rows.js'
import { FlowScoresSpec } from './spec/flows.js'

type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => unknown }> }

/** The blocks of these flows, in order, and the flows; with the blocks numbered from `firstBlock`. */
export async function addFlows(
  clickhouse: ClickHouseClient,
  flows: readonly Flow[],
  { until, firstBlock = 1 }: { until: number; firstBlock?: number },
): Promise<void> {
  const inOrder = flows.toSorted((a, b) => a.block_time - b.block_time)
  const times = [...timesOf(inOrder), until]
  const numbers = new Map(times.map((time, i) => [time, firstBlock + i]))
  await addBlocks(clickhouse, times, firstBlock)
  await addFacts(clickhouse, {
    flows: inOrder.map((flow, i) => ({
      ...flow,
      block_number: numbers.get(flow.block_time) as number,
      log_index: i % 1000,
    })),
  })
}

/** All scores that the API lists, read page by page and checked against the specification, and the first page. */
export async function scoresOf(app: App, query: Record<string, string> = {}) {
  const scores: EdgeScore[] = []
  let first: ReturnType<typeof FlowScoresSpec.parse> | undefined
  for (let cursor: string | null = ''; cursor !== null; ) {
    const parameters = new URLSearchParams({ limit: '500', ...query, ...(cursor && { cursor }) })
    const response = await app.inject(`/api/v1/stablecoins/flows/scores?${parameters}`)
    expect(response.statusCode, JSON.stringify(response.json())).toBe(200)
    const page = FlowScoresSpec.parse(response.json())
    first ??= page
    expect(page.window_start).toBe(first.window_start)
    scores.push(...page.scores)
    cursor = page.next_cursor
  }
  return { ...(first as NonNullable<typeof first>), scores }
}

/** Expects the same edges with the same figures, floats equal to a relative 1e-9. */
export function expectScores(found: readonly EdgeScore[], expected: Record<string, object>, message: string): void {
  const byEdge = Object.fromEntries(found.map((score) => [`${score.from_address} ${score.to_address}`, score]))
  expect(found.length, message).toBe(Object.keys(expected).length)
  expect(differences(byEdge, expected), message).toEqual([])
}
