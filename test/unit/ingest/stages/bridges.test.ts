import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem'
import { Addresses } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { KNOWN_BRIDGES } from '../../../../ingest/chain/addresses.js'
import type { ChainEvent } from '../../../../ingest/chain/event-types.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import type { RawLog } from '../../../../ingest/chain/rpc-answers.js'
import { createIssuerRoles, type IssuerRoleChange } from '../../../../ingest/knowledge/issuer-roles.js'
import { bridgeMovements } from '../../../../ingest/stages/bridges.js'
import { roleEvents } from '../../../../ingest/stages/roles.js'
import { encodedLog } from '../../../support/logs.js'

const A = `0x20c0${'0'.repeat(34)}0a`
const B = `0x20c0${'0'.repeat(34)}0b`
const [ALICE, OFT, FAKE] = ['a1', '0f', 'fa'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]
const ZERO = `0x${'0'.repeat(40)}`
const guid = `0x${'9d'.repeat(32)}`

const oftAbi = parseAbi([
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
])
let next = 0
const raw = (address: string, topics: unknown, data: string): RawLog => ({
  address,
  topics: topics as string[],
  data,
  blockNumber: 7,
  blockHash: '',
  transactionHash: '0xt1',
  logIndex: next++,
})
const sent = (bridge: string, eid: number, amount: bigint, received: bigint): RawLog =>
  raw(
    bridge,
    encodeEventTopics({ abi: oftAbi, eventName: 'OFTSent', args: { guid, fromAddress: ALICE } as never }),
    encodeAbiParameters([{ type: 'uint32' }, { type: 'uint256' }, { type: 'uint256' }], [eid, amount, received]),
  )
const received = (bridge: string, eid: number, amount: bigint): RawLog =>
  raw(
    bridge,
    encodeEventTopics({ abi: oftAbi, eventName: 'OFTReceived', args: { guid, toAddress: ALICE } as never }),
    encodeAbiParameters([{ type: 'uint32' }, { type: 'uint256' }], [eid, amount]),
  )
const tip20 = (name: string, token: string, args: Record<string, unknown>, transactionHash = '0xt1') =>
  encodedLog('tip20', name, token, args, { logIndex: next++, transactionHash })
const mint = (token: string, amount: bigint, hash?: string) => tip20('Mint', token, { to: ALICE, amount }, hash)
const burn = (token: string, from: string, amount: bigint) => tip20('Burn', token, { from, amount })
const portal = (id: number, name: string, args: Record<string, unknown>) =>
  encodedLog('zonePortal', name, Addresses.zonePortal(id).toLowerCase(), args, { logIndex: next++ })

const HELD = [{ stable: A, account: OFT, granted: true, block_number: 1, log_index: 0 }]

function movements(logs: RawLog[], known: readonly IssuerRoleChange[] = HELD) {
  const events = logs.map(decodeLog).filter((event): event is ChainEvent => event !== null)
  const issuers = createIssuerRoles(known)
  issuers.learn(roleEvents({ number: 7, time: 60 }, events))
  return bridgeMovements(events, issuers).map(
    ({ from_token, to_token, account, remote_chain, amountIn, amountOut }) => ({
      ...{ from_token, to_token, account, remote_chain, amountIn, amountOut },
    }),
  )
}
const out = { from_token: A, to_token: '', account: ALICE }
const into = { from_token: '', to_token: A, account: ALICE }

describe('an OFT that issues the token', () => {
  test('sends what it burns less its fee, and delivers what it mints', () => {
    expect(movements([burn(A, OFT, 990n), sent(OFT, 30_101, 1_000n, 990n)])).toEqual([
      { ...out, remote_chain: 'eid:30101', amountIn: 1_000n, amountOut: 990n },
    ])
    expect(movements([mint(A, 500n), received(OFT, 4_294_967_295, 500n)])).toEqual([
      { ...into, remote_chain: 'eid:4294967295', amountIn: 500n, amountOut: 500n },
    ])
  })

  test('sends what it burns from its user by burnAt, for which it needs no right to mint', () => {
    const burnAt = (burner: string) => tip20('BurnAt', A, { burner, from: ALICE, amount: 990n })
    expect(movements([burnAt(OFT), sent(OFT, 30_101, 1_000n, 990n)], [])).toEqual([
      { ...out, remote_chain: 'eid:30101', amountIn: 1_000n, amountOut: 990n },
    ])
    expect(movements([burnAt(OFT), sent(FAKE, 30_101, 1_000n, 990n)])).toEqual([])
  })

  test('counts once for each mint, and only in its own transaction', () => {
    expect(movements([mint(A, 500n), received(OFT, 1, 500n), received(OFT, 1, 500n)])).toHaveLength(1)
    expect(movements([mint(A, 500n, '0xt0'), received(OFT, 1, 500n)])).toEqual([])
  })

  test('counts from the log that grants its role to the log that revokes it', () => {
    const role = '0x114e74f6ea3bd819998f78687bfcb11b140da08e9b7d222fa9c1f1ba1f2aa122'
    const change = (hasRole: boolean) =>
      tip20('RoleMembershipUpdated', A, { role, account: OFT, sender: ALICE, hasRole })
    const crossing = () => [mint(A, 5n), received(OFT, 1, 5n)]
    expect(movements([...crossing(), change(true), ...crossing(), change(false), ...crossing()], [])).toHaveLength(1)
  })
})

describe('a bridge is not', () => {
  test('a contract that emits the event but issues nothing, whatever others mint', () => {
    expect(movements([mint(A, 5n), received(FAKE, 1, 5n), burn(A, OFT, 5n), sent(FAKE, 1, 5n, 5n)])).toEqual([])
  })
  test('an issuer that mints another amount or token', () => {
    expect(movements([mint(A, 4n), mint(B, 5n), received(OFT, 1, 5n)])).toEqual([])
  })
  test('an issuer whose event names more than any token can have', () => {
    const most = 2n ** 128n - 1n
    expect(movements([burn(A, OFT, 990n), sent(OFT, 1, most + 1n, 990n)])).toEqual([])
    expect(movements([burn(A, OFT, most), sent(OFT, 1, most, most)])).toHaveLength(1)
  })
  test('a log that does not match the event, which anybody can emit', () => {
    const { topics, data, ...log } = sent(FAKE, 1, 5n, 5n)
    for (const bad of [
      { topics, data: '0x' },
      { topics: topics.slice(0, 1), data },
      { topics, data: `0x${'ff'.repeat(96)}` },
    ]) {
      expect(decodeLog({ ...log, ...bad })).toBeNull()
    }
  })
})

test('a bridge on the public list needs no role in the logs', () => {
  const [[bridge, token]] = [...KNOWN_BRIDGES] as [[string, string]]
  expect(movements([sent(bridge, 30_184, 7n, 7n)], [])).toEqual([
    { ...out, from_token: token, remote_chain: 'eid:30184', amountIn: 7n, amountOut: 7n },
  ])
})

describe('the portal of a zone', () => {
  const deposit = {
    newCurrentDepositQueueHash: guid,
    sender: ALICE,
    token: A,
    netAmount: 90n,
    fee: 10n,
    keyIndex: 0n,
    ephemeralPubkeyX: guid,
    ephemeralPubkeyYParity: 2,
    ciphertext: '0xabcd',
    nonce: `0x${'01'.repeat(12)}`,
    tag: `0x${'02'.repeat(16)}`,
    tempoRefundRecipient: ALICE,
    depositNumber: 1n,
  }
  const withdrawal = { to: ALICE, senderTag: guid, token: A, amount: 40n, callbackSuccess: true }

  test('takes deposits, pays withdrawals, and returns what the zone did not accept', () => {
    expect(
      movements([
        portal(3, 'DepositMade', deposit),
        portal(4_000_000_000, 'WithdrawalProcessed', withdrawal),
        portal(3, 'DepositBounceBack', { tempoRefundRecipient: ALICE, token: A, amount: 8n, bouncebackFee: 1n }),
        portal(3, 'RefundClaimed', { recipient: ALICE, token: A, amount: 9n }),
      ]),
    ).toEqual([
      { ...out, remote_chain: 'zone:3', amountIn: 100n, amountOut: 90n },
      { ...into, remote_chain: 'zone:4000000000', amountIn: 40n, amountOut: 40n },
      { ...into, remote_chain: 'zone:3', amountIn: 8n, amountOut: 8n },
      { ...into, remote_chain: 'zone:3', amountIn: 9n, amountOut: 9n },
    ])
  })

  test('keeps a withdrawal if its receiver fails', () => {
    expect(movements([portal(3, 'WithdrawalProcessed', { ...withdrawal, callbackSuccess: false })])).toEqual([])
  })

  test('counts at its own address only', () => {
    expect(movements([{ ...portal(3, 'DepositMade', deposit), address: FAKE }])).toEqual([])
    expect(movements([{ ...portal(3, 'DepositMade', deposit), address: ZERO }])).toEqual([])
  })
})
