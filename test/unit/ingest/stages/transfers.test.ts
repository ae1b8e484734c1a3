import { zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import {
  RECEIVE_POLICY_GUARD,
  TIP20_CHANNEL_RESERVE,
  ZONE_PORTAL_PREFIX,
} from '../../../../clickhouse/holders/transfers.js'
import { FEE_MANAGER } from '../../../../ingest/chain/addresses.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import type { RawLog } from '../../../../ingest/chain/rpc-answers.js'
import { logFacts } from '../../../../ingest/stages/facts.js'
import { transfersOf } from '../../../../ingest/stages/transfers.js'
import { encodedLog } from '../../../support/logs.js'

const STABLE = `0x20c0${'0'.repeat(20)}${'0a'.repeat(8)}`
const OTHER = `0x20c0${'0'.repeat(20)}${'0b'.repeat(8)}`
const [ALICE, BOB] = ['a1', 'b2'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
const VIRTUAL = `0x58e21090${'fd'.repeat(10)}010203040506`
const PORTAL = `${ZONE_PORTAL_PREFIX}${'0'.repeat(15)}7`

type Sent = [from: string, to: string, amount: bigint, more?: { stable?: string; tx?: string }]

const sent = ([from, to, amount, { stable = STABLE, tx = '0x1' } = {}]: Sent): RawLog =>
  encodedLog('tip20', 'Transfer', stable, { from, to, amount }, { transactionHash: tx })

/** The transfers of a block with these logs, all of one stable or of those that are known. */
function transfers(logs: readonly RawLog[], known = [STABLE]) {
  const block = { number: 7, time: 1_790_000_000, logs: logs.map((log, logIndex) => ({ ...log, logIndex })) }
  const events = block.logs.map(decodeLog).filter((event) => event !== null)
  const facts = logFacts(block as Parameters<typeof logFacts>[0], events)
  return transfersOf(block, facts, (address) => known.includes(address))
}

const kinds = (logs: readonly RawLog[]) => transfers(logs).map(({ kind, log_index }) => [kind, log_index])

describe('every transfer of a stable is a row', () => {
  test('with its place, both accounts and an amount of up to 128 bits', () => {
    expect(transfers([sent([ALICE, BOB, 2n ** 128n - 1n]), sent([ALICE, FEE_MANAGER, 1n])])).toEqual([
      {
        stable: STABLE,
        kind: 'transfer',
        sender: ALICE,
        recipient: BOB,
        amount_raw: '340282366920938463463374607431768211455',
        block_number: 7,
        log_index: 0,
        block_time: 1_790_000_000,
      },
      {
        stable: STABLE,
        kind: 'fee',
        sender: ALICE,
        recipient: FEE_MANAGER,
        amount_raw: '1',
        block_number: 7,
        log_index: 1,
        block_time: 1_790_000_000,
      },
    ])
  })

  test('but the logs beside it that repeat the amount are none', () => {
    const mint = encodedLog('tip20', 'Mint', STABLE, { to: ALICE, amount: 5n })
    const memo = { from: ALICE, to: BOB, amount: 5n, memo: `0x${'00'.repeat(32)}` }
    const blocked = encodedLog('tip20', 'BurnBlocked', STABLE, { from: BOB, amount: 5n })
    const logs = [
      sent([zeroAddress, ALICE, 5n]),
      mint,
      sent([ALICE, BOB, 5n]),
      encodedLog('tip20', 'TransferWithMemo', STABLE, memo),
      sent([BOB, zeroAddress, 5n]),
      blocked,
      sent([ALICE, FEE_MANAGER, 1n]),
    ]
    expect(kinds(logs.map((log) => ({ ...log, transactionHash: '0x1' })))).toEqual([
      ['mint', 0],
      ['transfer', 2],
      ['burn', 4],
      ['fee', 6],
    ])
  })

  test('what the channel reserve and the receive guard get and give is custody, not a payment', () => {
    const logs = [
      sent([ALICE, TIP20_CHANNEL_RESERVE, 9n]),
      sent([TIP20_CHANNEL_RESERVE, BOB, 4n]),
      sent([TIP20_CHANNEL_RESERVE, ALICE, 5n]),
      sent([ALICE, RECEIVE_POLICY_GUARD, 2n]),
      sent([ALICE, FEE_MANAGER, 1n]),
    ]
    expect(kinds(logs).map(([kind]) => kind)).toEqual(['custody', 'custody', 'custody', 'custody', 'fee'])
  })

  test('a burn from a blocked account, which has no Burn log, is a burn', () => {
    const blocked = encodedLog('tip20', 'BurnBlocked', STABLE, { from: BOB, amount: 5n }, { transactionHash: '0x1' })
    expect(kinds([sent([BOB, zeroAddress, 5n]), blocked, sent([ALICE, FEE_MANAGER, 1n])])).toEqual([
      ['burn', 0],
      ['fee', 2],
    ])
  })

  test('what a virtual address passes on is a forward, and leaves nothing with it', () => {
    const found = transfers([sent([ALICE, VIRTUAL, 5n]), sent([VIRTUAL, BOB, 5n]), sent([ALICE, FEE_MANAGER, 1n])])
    expect(found.map(({ kind, sender, recipient }) => [kind, sender, recipient])).toEqual([
      ['transfer', ALICE, VIRTUAL],
      ['forward', VIRTUAL, BOB],
      ['fee', ALICE, FEE_MANAGER],
    ])
  })

  test('what a receive policy holds back is the guard’s, and what is deposited to a zone its portal’s', () => {
    const hold = { token: STABLE, receiver: BOB, blockedNonce: 1n, amount: 5n, receiptVersion: 1, receipt: '0x' }
    const held = encodedLog('receivePolicyGuard', 'TransferBlocked', RECEIVE_POLICY_GUARD, hold)
    const found = transfers([
      sent([ALICE, RECEIVE_POLICY_GUARD, 5n]),
      { ...held, transactionHash: '0x1' },
      sent([ALICE, PORTAL, 7n]),
      sent([ALICE, FEE_MANAGER, 1n]),
    ])
    expect(found.map(({ kind, recipient }) => [kind, recipient])).toEqual([
      ['custody', RECEIVE_POLICY_GUARD],
      ['transfer', PORTAL],
      ['fee', FEE_MANAGER],
    ])
  })

  test('a transfer to the fee manager is a fee only as the last log of its transaction', () => {
    const logs = [
      sent([ALICE, FEE_MANAGER, 500n]),
      sent([ALICE, FEE_MANAGER, 1n]),
      sent([BOB, FEE_MANAGER, 2n, { tx: '0x2' }]),
    ]
    expect(kinds(logs)).toEqual([
      ['transfer', 0],
      ['fee', 1],
      ['fee', 2],
    ])
  })

  test('a token that is no known stable has none', () => {
    const logs = [sent([ALICE, BOB, 1n, { stable: OTHER }]), sent([ALICE, FEE_MANAGER, 1n])]
    expect(transfers(logs).map(({ stable }) => stable)).toEqual([STABLE])
    expect(transfers(logs, [STABLE, OTHER]).map(({ stable }) => stable)).toEqual([OTHER, STABLE])
  })
})
