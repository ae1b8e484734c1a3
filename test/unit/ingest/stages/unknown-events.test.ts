import { describe, expect, test } from 'vitest'
import { RECEIVE_POLICY_GUARD } from '../../../../clickhouse/holders/transfers.js'
import { STABLECOIN_DEX } from '../../../../ingest/chain/addresses.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import type { RawLog } from '../../../../ingest/chain/rpc-answers.js'
import { touchedStates } from '../../../../ingest/stages/states.js'
import { unknownEvents } from '../../../../ingest/stages/unknown-events.js'
import { encodedLog } from '../../../support/logs.js'

const STABLE = `0x20c0${'0'.repeat(20)}${'0a'.repeat(8)}`
const [ALICE, BOB] = ['a1', 'b2'].map((byte) => `0x${byte.repeat(20)}`)
const NEW_TOPIC = `0x${'7a'.repeat(32)}`
const TX = `0x${'70'.repeat(32)}`
const transfer = encodedLog('tip20', 'Transfer', STABLE, { from: ALICE, to: BOB, amount: 5n })
const mint = encodedLog('tip20', 'Mint', STABLE, { to: ALICE, amount: 5n })
const unread = encodedLog('tip20', 'Approval', STABLE, { owner: ALICE, spender: BOB, amount: 5n })
const foreign = (address: string, changes: Partial<RawLog> = {}): RawLog => ({
  ...transfer,
  address,
  topics: [NEW_TOPIC],
  ...changes,
})

function unknownOf(logs: readonly RawLog[]) {
  const block = { number: 7, time: 1_790_000_000, logs: logs.map((log, logIndex) => ({ ...log, logIndex })) }
  return unknownEvents(block, block.logs.map(decodeLog))
}

describe('a log of one of the chain’s own contracts that is not understood is counted', () => {
  test('by contract and topic, with the first of them as an example', () => {
    const rows = unknownOf([
      transfer,
      foreign(STABLE),
      mint,
      foreign(STABLECOIN_DEX),
      foreign(STABLE),
      foreign(RECEIVE_POLICY_GUARD, { topics: [] }),
    ])
    const at = { block_number: 7, block_time: 1_790_000_000, tx_hash: TX }
    expect(rows).toEqual([
      { emitter: 'token', contract: STABLE, topic: NEW_TOPIC, reason: 'topic', log_count: 2, log_index: 1, ...at },
      {
        emitter: 'exchange',
        contract: STABLECOIN_DEX,
        topic: NEW_TOPIC,
        reason: 'topic',
        log_count: 1,
        log_index: 3,
        ...at,
      },
      {
        emitter: 'guard',
        contract: RECEIVE_POLICY_GUARD,
        topic: '',
        reason: 'topic',
        log_count: 1,
        log_index: 5,
        ...at,
      },
    ])
    expect(touchedStates([], rows).stables).toEqual(new Set([STABLE]))
  })

  test('also if its data is shorter or longer than its event says, and it is not decoded', () => {
    const logo = encodedLog('tip20', 'LogoURIUpdated', STABLE, { updater: ALICE, newLogoURI: 'https://a.test/ü' })
    expect(decodeLog(logo)).toMatchObject({ args: { newLogoURI: 'https://a.test/ü' } })
    for (const log of [mint, transfer, logo])
      for (const data of ['0x', log.data.slice(0, -2), `${log.data}00`, `${log.data}${'0'.repeat(64)}`]) {
        expect(decodeLog({ ...log, data })).toBeNull()
        expect(unknownOf([{ ...log, data }])).toMatchObject([{ reason: 'data', topic: log.topics[0], log_count: 1 }])
      }
    expect(unknownOf([{ ...mint, topics: mint.topics.slice(0, 1) }])).toMatchObject([{ reason: 'data' }])
  })

  test('but not what is known and not read, and not what anybody’s contract writes', () => {
    expect(unknownOf([transfer, mint, unread, foreign(`0x${'77'.repeat(20)}`)])).toEqual([])
  })
})
