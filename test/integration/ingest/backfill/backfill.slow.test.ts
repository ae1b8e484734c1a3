import type { ClickHouseClient } from '@clickhouse/client'
import { beforeAll, describe, expect } from 'vitest'
import { FAMILIES, newestBatch } from '../../../../clickhouse/chain/batches.js'
import { coveredRanges } from '../../../../clickhouse/chain/covered-ranges.js'
import { declaredGaps } from '../../../../clickhouse/chain/gaps.js'

import { backfillAll, startBackfill } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { depth } from '../../../support/depth.js'
import { faultyNode, OLDEST_STATE } from '../../../support/faulty-node.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll, startIngest } from '../../../support/ingest.js'
import { copyHistory, fingerprintOfHistory } from '../../../support/ingested.js'
import { tokenListFile } from '../../../support/local-node.js'
import { test } from '../../../support/services.js'
import { eventually } from '../../../support/webhooks.js'

const BLOCKS = 240
const START = 150
const KILLS = depth('KILL_ROUNDS', 2, 20)
const TIP = { START_BLOCK: `${START}` }
/** Most tokens are not on the list, so that their books say what flows are worth. */
const FEW_LISTED = { ...TIP, TOKEN_LIST: tokenListFile('pathUSD', 'ABUSD') }

const chain = useStillChain({ historyBlocks: BLOCKS })
/** The facts after everything was read from the first block on. */
let expected: Record<string, unknown>

beforeAll(async () => {
  expected = await fingerprintOfHistory(chain)
  expect(expected).toMatchObject({ blocks: [{ rows: `${BLOCKS}` }] })
})

const everything = FAMILIES.map((family) => ({ family, stables: [], from_block: 1, to_block: BLOCKS }))

/** The first block whose orders are not deleted, and a backfill from there. */
const LOST = 40
const FROM_LOST = ['--from', `${LOST}`]
/** Deletes the orders of the first blocks, so that the books are unknown from the first fill of one on. */
const loseOrders = (clickhouse: ClickHouseClient) =>
  clickhouse.command({ query: `DELETE FROM exchange_events WHERE event = 'OrderPlaced' AND block_number < ${LOST}` })

async function stablesWithOrders(clickhouse: ClickHouseClient): Promise<string[]> {
  const rows = await clickhouse.query({ query: 'SELECT DISTINCT base FROM dex_orders ORDER BY base', format: 'JSON' })
  return (await rows.json<{ base: string }>()).data.map(({ base }) => base)
}

describe('ingest that starts in the middle of the chain', () => {
  test('has only the catalogue of the earlier blocks', async ({ clickhouseEnv, clickhouse }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
    const found = await fingerprint(clickhouse)
    for (const table of ['stablecoins', 'quote_token_updates', 'dex_orders'])
      expect(found[table]).toEqual(expected[table])
    expect(found).toMatchObject({ blocks: [{ rows: `${BLOCKS - START + 1}` }] })
    expect(await coveredRanges(clickhouse)).toEqual(
      FAMILIES.map((family) => ({
        family,
        stables: [],
        from_block: family === 'catalogue' ? 1 : START,
        to_block: BLOCKS,
      })),
    )
  })

  test('does not start at a block that may still be replaced', async ({ clickhouseEnv }) => {
    const ingest = startIngest(clickhouseEnv, chain.rpcUrl, { START_BLOCK: `${BLOCKS - 63}` })
    expect(await ingest.exited).toEqual({ code: 78, signal: null })
    expect(ingest.output()).toContain(`the newest block to start from is ${BLOCKS - 64}`)
  })

  test('starts at the newest final block if START_BLOCK is head', async ({ clickhouseEnv, clickhouse }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, { START_BLOCK: 'head' })
    expect(await fingerprint(clickhouse)).toMatchObject({ blocks: [{ rows: '65' }] })
  })
})

// A process that finds an unfinished batch watches it for a while.
describe.concurrent('a backfill', { timeout: 600_000 }, () => {
  test.for([[[]], [['--newest-first']]])(
    '%s gives the same facts as reading everything from the beginning',
    async ([flags], { clickhouseEnv, clickhouse }) => {
      await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
      await backfillAll(clickhouseEnv, chain.rpcUrl, flags)
      expect(await fingerprint(clickhouse)).toEqual(expected)
      expect(await coveredRanges(clickhouse)).toEqual(everything)
      // A repeat finds nothing to do.
      expect(await backfillAll(clickhouseEnv, chain.rpcUrl)).toContain('backfill reads 0 blocks')
      expect(await fingerprint(clickhouse)).toEqual(expected)
    },
  )

  test('in parts, by family, stable and range in any order, gives the same facts', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
    const [one, two] = await stablesWithOrders(clickhouse)
    for (const flags of [
      ['--only', 'pegs', '--stables', `${two}`, '--from', '35', '--to', '77'],
      ['--only', 'logs', '--from', '50', '--to', '90', '--newest-first'],
      ['--stables', `${one},${two}`, '--from', '70', '--to', '100'],
      ['--only', 'state', '--from', '10', '--to', '40'],
    ]) {
      await backfillAll(clickhouseEnv, chain.rpcUrl, flags)
      expect(await fingerprint(clickhouse)).not.toEqual(expected)
    }
    await backfillAll(clickhouseEnv, chain.rpcUrl)
    expect(await fingerprint(clickhouse)).toEqual(expected)
  })

  test('that is killed repeatedly continues where it stopped', async ({ clickhouseEnv, clickhouse }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
    const newest = () => newestBatch(clickhouse, { track: 'backfill' })
    let halfDone = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const before = (await newest())?.sequence_number ?? 0
      const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
      // Every other kill strikes when a batch is planned, the others when one is stored.
      if (kill % 2 === 0) relay.hold('insert_blocks')
      const env = { ...clickhouseEnv, CLICKHOUSE_URL: relay.url }
      const backfill = startBackfill(env, chain.rpcUrl, [], { BATCH_BLOCKS: '7' })
      const isReached = async () => {
        const batch = await newest()
        if (batch === null || batch.sequence_number <= before) return false
        return kill % 2 === 0 ? relay.asked('insert_blocks') : batch.committed
      }
      while (backfill.child.exitCode === null && !(await isReached()));
      await backfill.kill('SIGKILL')
      await relay.close()
      if ((await newest())?.committed === false) halfDone++
    }
    await backfillAll(clickhouseEnv, chain.rpcUrl)
    expect(await fingerprint(clickhouse)).toEqual(expected)
    // Checks that the kills struck at the intended moments.
    expect(halfDone).toBeGreaterThan(0)
  })

  test('does no harm if two run at once: one refuses to start', async ({ clickhouseEnv, clickhouse }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
    const both = [1, 2].map(() => startBackfill(clickhouseEnv, chain.rpcUrl, [], { BATCH_BLOCKS: '3' }))
    const codes = (await Promise.all(both.map(({ exited }) => exited))).map(({ code }) => code)
    expect(codes.sort()).toEqual([0, 78])
    expect(both.map(({ output }) => output()).join('')).toContain('another ingest process writes to this database')
    await backfillAll(clickhouseEnv, chain.rpcUrl)
    expect(await fingerprint(clickhouse)).toEqual(expected)
  })

  test('of an unknown stable, or before ingest has started, is refused', async ({ clickhouseEnv, clickhouse }) => {
    const tooEarly = startBackfill(clickhouseEnv, chain.rpcUrl)
    expect(await tooEarly.exited).toEqual({ code: 78, signal: null })
    expect(tooEarly.output()).toContain('start ingest first')
    await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
    const unknown = startBackfill(clickhouseEnv, chain.rpcUrl, ['--stables', `0x${'9'.repeat(40)}`])
    expect(await unknown.exited).toEqual({ code: 78, signal: null })
    expect(unknown.output()).toContain('no such stable')
  })

  test('that finds an order in the logs but not in the catalogue stops with an error', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    await copyHistory(chain, clickhouse, clickhouseEnv, TIP)
    const newest = `SELECT max(order_id) FROM dex_orders WHERE block_number < ${START}`
    await clickhouse.command({ query: `DELETE FROM dex_orders WHERE order_id = (${newest})` })
    const backfill = startBackfill(clickhouseEnv, chain.rpcUrl)
    expect(await backfill.exited).toEqual({ code: 78, signal: null })
    expect(backfill.output()).toMatch(/the catalogue of blocks \d+ to \d+ does not match their logs: dex_orders/)
  })

  test('on a node without old states has every quote, and records the states as gaps, which another node fills', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    const pruned = await faultyNode(chain.rpcUrl, () => 'pruned')
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, TIP)
    const output = await backfillAll(clickhouseEnv, pruned.url, ['--only', 'pegs,state'])
    await pruned.close()
    expect(output).toContain(`state: ${OLDEST_STATE - 1} blocks from 1 to ${OLDEST_STATE - 1}`)
    const priced = await fingerprint(clickhouse)
    for (const table of ['peg_samples', 'depth_samples', 'peg_minutes']) expect(priced[table]).toEqual(expected[table])
    const gaps = await declaredGaps(clickhouse, {})
    const reason = expect.stringContaining('missing trie node')
    expect(gaps).toEqual([{ family: 'state', from_block: 1, to_block: OLDEST_STATE - 1, reason }])
    const ranges = (await coveredRanges(clickhouse)).filter(({ family }) => ['pegs', 'state'].includes(family))
    expect(ranges).toEqual([
      { family: 'pegs', stables: [], from_block: 1, to_block: BLOCKS },
      { family: 'state', stables: [], from_block: OLDEST_STATE, to_block: BLOCKS },
    ])

    await backfillAll(clickhouseEnv, chain.rpcUrl)
    expect(await fingerprint(clickhouse)).toEqual(expected)
    expect(await coveredRanges(clickhouse)).toEqual(everything)
  })

  test('on a node without old states has the value of every flow, those of unlisted tokens too', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    const { TOKEN_LIST } = FEW_LISTED
    const whole = await fingerprintOfHistory(chain, { TOKEN_LIST })
    const pruned = await faultyNode(chain.rpcUrl, () => 'pruned')
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, FEW_LISTED)
    await backfillAll(clickhouseEnv, pruned.url)
    await pruned.close()
    const found = await fingerprint(clickhouse)
    for (const table of ['flows', 'blocks', 'supply_events', 'dex_orders']) expect(found[table]).toEqual(whole[table])
    expect((await declaredGaps(clickhouse, {})).map(({ family }) => family)).toEqual(['state'])
  })

  test('on a node without old states records that flows have no value whose books are unknown', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    const pruned = await faultyNode(chain.rpcUrl, () => 'pruned')
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, FEW_LISTED)
    await loseOrders(clickhouse)
    await backfillAll(clickhouseEnv, pruned.url, FROM_LOST)
    await pruned.close()
    const counted = await clickhouse.query({
      query: `SELECT countIf(usd_micros IS NULL AND block_number < ${OLDEST_STATE}) > 0 AS old FROM flows`,
      format: 'JSONEachRow',
    })
    expect(await counted.json()).toEqual([{ old: 1 }])
    const gaps = await declaredGaps(clickhouse, {})
    expect(gaps.filter(({ family }) => family === 'logs').every(({ to_block }) => to_block < OLDEST_STATE)).toBe(true)
    expect(new Set(gaps.map(({ family }) => family))).toEqual(new Set(['logs', 'pegs', 'state']))
  })

  test('that is killed before it has recorded a gap records it with the next run', async ({
    clickhouseEnv,
    clickhouse,
  }) => {
    const pruned = await faultyNode(chain.rpcUrl, () => 'pruned')
    const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
    await ingestAll(clickhouseEnv, clickhouse, pruned.url, BLOCKS, FEW_LISTED)
    await loseOrders(clickhouse)
    const onlyLogs = ['--only', 'logs', ...FROM_LOST]
    relay.hold('insert_ingest_gaps')
    const held = startBackfill({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url }, pruned.url, onlyLogs)
    await eventually(
      'the gap is about to be declared',
      120,
      () => relay.asked('insert_ingest_gaps') || held.child.exitCode !== null,
    )
    expect(held.child.exitCode, held.output()).toBeNull()
    await held.kill('SIGKILL')
    await relay.close()
    const batch = await newestBatch(clickhouse, { track: 'backfill' })
    expect(await declaredGaps(clickhouse, {})).toEqual([])
    await backfillAll(clickhouseEnv, pruned.url, onlyLogs)
    await pruned.close()
    const gaps = await declaredGaps(clickhouse, {})
    expect(gaps.filter(({ from_block }) => from_block === batch?.from_block)).toEqual([
      { family: 'logs', from_block: batch?.from_block, to_block: batch?.to_block, reason: expect.any(String) },
    ])
  })
})
