import { expect } from 'vitest'
import { insertForkSchedule } from '../../../../clickhouse/chain/forks.js'
import type { UnknownEvent } from '../../../../clickhouse/chain/unknown-events.js'
import { test } from '../../../support/app.js'
import { addRows } from '../../../support/economy-rows.js'
import { addBlocks, pairOf, stablecoin, txHash } from '../../../support/rows.js'

const [BLIND, OTHER] = [stablecoin(1), stablecoin(2)]
const TOPIC = txHash(0x7a)
const HOUR = 3600

test('an event that is not understood is in the status, the metrics and the coverage of what it may change, from its block on', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = Array.from({ length: 60 }, (_, i) => now - (59 - i) * 60)
  const { stable } = BLIND
  await addRows(clickhouse, { stablecoins: [BLIND, OTHER], dex_pairs: [BLIND, OTHER].map(pairOf) })
  await addBlocks(clickhouse, times)
  const statusOf = async (path: string): Promise<[string, string[]]> => {
    const { coverage } = (await app.inject(`/api/v1/${path}`)).json()
    return [coverage.status, coverage.missing.map(({ reason }: { reason: string }) => reason)]
  }
  const affected = [...['issuance', 'roles'].map((part) => `stablecoins/${stable}/${part}`), 'fee-economics/overview']
  const others = [
    ...['issuance', 'roles'].map((part) => `stablecoins/${OTHER.stable}/${part}`),
    `stablecoins/${stable}/issuance?as_of=${times[39]}`,
  ]
  const before = new Map<string, [string, string[]]>()
  for (const path of [...affected, ...others]) before.set(path, await statusOf(path))
  for (const path of affected) expect(before.get(path)?.[1]).not.toContain('unknown_event')

  const unknown: UnknownEvent[] = [50, 52].map((block_number) => ({
    emitter: 'token',
    contract: stable,
    topic: TOPIC,
    reason: 'topic',
    log_count: 2,
    block_number,
    block_time: times[block_number - 1] as number,
    log_index: 3,
    tx_hash: txHash(block_number),
  }))
  await addRows(clickhouse, { unknown_events: unknown })
  clock.now = new Date(clock.now.getTime() + 6000)
  await expect
    .poll(() => statusOf(affected[0] as string), { timeout: 10_000 })
    .toEqual(['partial', expect.arrayContaining(['unknown_event'])])
  for (const path of affected) expect((await statusOf(path))[1]).toContain('unknown_event')
  for (const path of others) expect([path, await statusOf(path)]).toEqual([path, before.get(path)])

  const status = (await app.inject('/api/v1/status')).json()
  expect(status.unknown_events).toEqual({
    count: 1,
    newest: [
      {
        contract: stable,
        emitter: 'token',
        topic: TOPIC,
        reason: 'topic',
        log_count: 4,
        first_block: 50,
        last_block: 52,
        first_at: `${new Date((times[49] as number) * 1000).toISOString().slice(0, 19)}Z`,
        last_at: `${new Date((times[51] as number) * 1000).toISOString().slice(0, 19)}Z`,
        example: { tx_hash: txHash(52), log_index: 3, block_number: 52 },
      },
    ],
  })
  const metrics = (await app.inject('/metrics')).payload
  expect(metrics).toContain(`plumbline_unknown_event_logs{contract="${stable}",topic="${TOPIC}"} 4\n`)
  expect(metrics).toContain('plumbline_unknown_event_kinds 1\n')
})

test('a fork that this version does not handle is in the status and the metrics', async ({
  app,
  clickhouse,
  clock,
}) => {
  expect((await app.inject('/api/v1/status')).json().forks).toBeNull()
  const unhandled = [{ name: 'T99', activation_time: 4_000_000_000, is_active: false }]
  await insertForkSchedule(clickhouse, { schedule: [], active: 'T12', unhandled })
  clock.now = new Date(clock.now.getTime() + HOUR * 1000)
  expect((await app.inject('/api/v1/status')).json().forks).toMatchObject({
    active: 'T12',
    unhandled: [{ name: 'T99', activation_at: '2096-10-02T07:06:40Z', is_active: false }],
  })
  expect((await app.inject('/metrics')).payload).toContain('plumbline_unhandled_forks 1\n')
})
