import { expect } from 'vitest'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, flow, stableAddress, stablecoin, txHash } from '../../../support/rows.js'

const FLOWS = '/api/v1/stablecoins/flows'

test('a window has the flows of (now - hours, now], 24 hours by default', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const at = (ago: number) => flow(1, 2, now - ago)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1), stablecoin(2)],
    flows: [-1, 0, 3599, 3600, 21_599, 21_600, 86_399, 86_400].map(at),
  })
  const counts = async (query: string) => {
    const body = (await app.inject(FLOWS + query)).json()
    return [body.window_hours, body.edges[0].tx_count, body.edges[0].volume_usd]
  }
  expect(await counts('?hours=1')).toEqual([1, 2, '2.000000'])
  expect(await counts('?hours=6')).toEqual([6, 4, '4.000000'])
  expect(await counts('?hours=24')).toEqual([24, 6, '6.000000'])
  expect(await counts('')).toEqual([24, 6, '6.000000'])
})

test('edges are sums by pair and direction, nodes sums of edges, exact beyond the precision of a float', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const big = '123456789012345678901234567'
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1), stablecoin(2), stablecoin(3)],
    flows: [
      flow(1, 2, now - 1, { usd_micros: big }),
      flow(1, 2, now - 2, { usd_micros: '1' }),
      flow(2, 1, now - 3, { usd_micros: '2500000' }),
      // Two in one transaction, and two whose value is unknown.
      flow(3, 1, now - 4, { usd_micros: '10', tx_hash: txHash(77) }),
      flow(3, 1, now - 4, { usd_micros: '20', tx_hash: txHash(77), log_index: 1 }),
      flow(3, 1, now - 5, { usd_micros: null }),
      flow(3, 1, now - 6, { usd_micros: null, amount_in_raw: `${2n ** 128n - 1n}`, amount_out_raw: '1' }),
    ],
  })
  expect((await app.inject(FLOWS)).json()).toEqual({
    window_hours: 24,
    coverage: expect.anything(),
    edges: [
      {
        from: 'S1',
        to: 'S2',
        from_address: stableAddress(1),
        to_address: stableAddress(2),
        volume_usd: '123456789012345678901.234568',
        tx_count: 2,
        unvalued_count: 0,
        unvalued_in_raw: '0',
        unvalued_out_raw: '0',
      },
      {
        from: 'S2',
        to: 'S1',
        from_address: stableAddress(2),
        to_address: stableAddress(1),
        volume_usd: '2.500000',
        tx_count: 1,
        unvalued_count: 0,
        unvalued_in_raw: '0',
        unvalued_out_raw: '0',
      },
      {
        from: 'S3',
        to: 'S1',
        from_address: stableAddress(3),
        to_address: stableAddress(1),
        volume_usd: '0.000030',
        tx_count: 3,
        unvalued_count: 2,
        // More than fits 128 bits.
        unvalued_in_raw: `${2n ** 128n - 1n + 1_000_000n}`,
        unvalued_out_raw: '999001',
      },
    ],
    nodes: [
      {
        symbol: 'S1',
        symbol_shared: false,
        address: stableAddress(1),
        inbound_usd: '2.500030',
        outbound_usd: '123456789012345678901.234568',
      },
      {
        symbol: 'S2',
        symbol_shared: false,
        address: stableAddress(2),
        inbound_usd: '123456789012345678901.234568',
        outbound_usd: '2.500000',
      },
      {
        symbol: 'S3',
        symbol_shared: false,
        address: stableAddress(3),
        inbound_usd: '0.000000',
        outbound_usd: '0.000030',
      },
    ],
  })
})

test('without flows the graph is empty, and its coverage tells silence from ignorance', async ({
  app,
  clickhouse,
  clock,
}) => {
  const graph = async () => (await app.inject(`${FLOWS}?hours=1`)).json()
  const empty = { window_hours: 1, edges: [], nodes: [] }
  expect(await graph()).toEqual({ ...empty, coverage: expect.objectContaining({ status: 'unavailable' }) })
  await addBlocks(clickhouse, [Math.floor(clock.now.getTime() / 1000) - 5000])
  expect(await graph()).toEqual({ ...empty, coverage: expect.objectContaining({ status: 'complete' }) })
})

test('a filter by stable leaves its edges and the nodes at their ends, whose totals stay those of all edges', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const flows = Array.from({ length: 60 }, (_, i) => flow(1 + (i % 4), 1 + ((i * 7 + 1) % 5), now - 1 - i))
  await addFacts(clickhouse, {
    stablecoins: Array.from({ length: 6 }, (_, i) => stablecoin(i + 1)),
    flows: flows.filter(({ from_token, to_token }) => from_token !== to_token),
  })
  const all = (await app.inject(FLOWS)).json()
  expect(all.nodes).toHaveLength(5)
  for (let n = 1; n <= 6; n++) {
    const stable = stableAddress(n)
    const own = (await app.inject(`${FLOWS}?stable=${stable.toUpperCase().replace('0X', '0x')}`)).json()
    const edges = all.edges.filter(
      (edge: { from_address: string; to_address: string }) =>
        edge.from_address === stable || edge.to_address === stable,
    )
    const ends = edges.flatMap((edge: { from_address: string; to_address: string }) => [
      edge.from_address,
      edge.to_address,
    ])
    expect(own.edges).toEqual(edges)
    expect(own.nodes).toEqual(all.nodes.filter(({ address }: { address: string }) => ends.includes(address)))
    expect(own.nodes.length > 0).toBe(n < 6)
  }
  const unknown = await app.inject(`${FLOWS}?stable=${stableAddress(99)}`)
  expect([unknown.statusCode, unknown.json()]).toMatchObject([404, { parameter: 'stable' }])
})
