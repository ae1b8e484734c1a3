import { expect, test } from 'vitest'
import { type FlowEdge, flowGraph, usd } from '../../../../clickhouse/flows/flows.js'

const edge = (from: string, to: string, volume_micros: string): FlowEdge => ({
  from,
  to,
  from_address: `0x${from}`,
  to_address: `0x${to}`,
  volume_micros,
  tx_count: 1,
  unvalued_count: 0,
  unvalued_in_raw: '0',
  unvalued_out_raw: '0',
})

test.each([
  [0n, '0.000000'],
  [1n, '0.000001'],
  [999_999n, '0.999999'],
  [1_000_000n, '1.000000'],
  [2n ** 100n, '1267650600228229401496703.205376'],
])('%s micros are %s USD', (micros, text) => {
  expect(usd(micros)).toBe(text)
})

test('a node has the sums of its edges, and both lists are sorted in descending order', () => {
  const { edges, nodes } = flowGraph([
    edge('a', 'b', '1000000'),
    edge('b', 'c', '9007199254740993'),
    edge('c', 'a', '5'),
  ])
  expect(edges.map(({ from, to, volume_usd }) => [from, to, volume_usd])).toEqual([
    ['b', 'c', '9007199254.740993'],
    ['a', 'b', '1.000000'],
    ['c', 'a', '0.000005'],
  ])
  expect(nodes).toEqual([
    { symbol: 'b', symbol_shared: false, address: '0xb', inbound_usd: '1.000000', outbound_usd: '9007199254.740993' },
    { symbol: 'c', symbol_shared: false, address: '0xc', inbound_usd: '9007199254.740993', outbound_usd: '0.000005' },
    { symbol: 'a', symbol_shared: false, address: '0xa', inbound_usd: '0.000005', outbound_usd: '1.000000' },
  ])
})

test('the result does not depend on the order of the rows', () => {
  const rows = [edge('a', 'b', '7'), edge('b', 'a', '7'), edge('a', 'c', '7')]
  expect(flowGraph(rows)).toEqual(flowGraph(rows.toReversed()))
})

test('two stables with the same symbol remain two nodes', () => {
  const { nodes } = flowGraph([{ ...edge('a', 'b', '1'), to: 'a' }])
  expect(nodes.map(({ symbol, address }) => [symbol, address])).toEqual([
    ['a', '0xa'],
    ['a', '0xb'],
  ])
})

test('without flows the graph is empty', () => {
  expect(flowGraph([])).toEqual({ edges: [], nodes: [] })
})
