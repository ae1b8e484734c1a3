import { describe, expect, test } from 'vitest'
import { FEE_MANAGER } from '../../../../ingest/chain/addresses.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import { feesPaid } from '../../../../ingest/stages/fees.js'
import { encodedLog } from '../../../support/logs.js'

const STABLE = `0x20c0${'0'.repeat(20)}${'0a'.repeat(8)}`
const OTHER = `0x20c0${'0'.repeat(20)}${'0b'.repeat(8)}`
const [ALICE, BOB] = ['a1', 'b2'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]

let logIndex = 0
const transfer = (tx: string, stable: string, from: string, to: string, amount: bigint) =>
  encodedLog('tip20', 'Transfer', stable, { from, to, amount }, { transactionHash: tx, logIndex: logIndex++ })
const fees = (logs: ReturnType<typeof transfer>[]) =>
  feesPaid({ number: 7, time: 1_790_000_000, logs }).map(({ tx_hash, stable, payer, amount_raw }) => [
    tx_hash,
    stable,
    payer,
    amount_raw,
  ])

describe('the fee of a transaction', () => {
  test('is its last log, even if it is the only one', () => {
    const logs = [
      transfer('0x1', STABLE, ALICE, BOB, 10n),
      transfer('0x1', STABLE, ALICE, FEE_MANAGER, 1n),
      transfer('0x2', OTHER, BOB, FEE_MANAGER, 2n ** 128n - 1n),
      transfer('0x3', STABLE, ALICE, FEE_MANAGER, 0n),
    ]
    expect(fees(logs)).toEqual([
      ['0x1', STABLE, ALICE, '1'],
      ['0x2', OTHER, BOB, '340282366920938463463374607431768211455'],
      ['0x3', STABLE, ALICE, '0'],
    ])
  })

  test('is not any other transfer to the fee manager', () => {
    const logs = [transfer('0x1', STABLE, ALICE, FEE_MANAGER, 500n), transfer('0x1', STABLE, ALICE, FEE_MANAGER, 1n)]
    expect(fees(logs)).toEqual([['0x1', STABLE, ALICE, '1']])
  })

  test('does not exist if the last log is something else, or of a contract that only looks like a token', () => {
    const fake = `0x${'99'.repeat(20)}`
    expect(fees([transfer('0x1', STABLE, ALICE, FEE_MANAGER, 1n), transfer('0x1', STABLE, ALICE, BOB, 1n)])).toEqual([])
    expect(fees([transfer('0x1', fake, ALICE, FEE_MANAGER, 1n)])).toEqual([])
  })

  test('that does not match its topic is not guessed', () => {
    const cut = { ...transfer('0x1', STABLE, ALICE, FEE_MANAGER, 1n), data: '0x01' }
    expect(fees([cut])).toEqual([])
  })
})

describe('transfers that are decoded', () => {
  const VIRTUAL = `0x58e21090${'fd'.repeat(10)}010203040506`
  test.each([
    ['between accounts', ALICE, BOB, false],
    ['a fee', ALICE, FEE_MANAGER, false],
    ['a reward, from the token itself', STABLE, BOB, true],
    ['from another token', OTHER, BOB, false],
    ['to a virtual address', ALICE, VIRTUAL, true],
    ['from a virtual address', VIRTUAL, BOB, true],
    ['from an address that only ends like a virtual one', `0x${'00'.repeat(9)}${'fd'.repeat(11)}`, BOB, false],
  ])('%s', (_, from, to, isDecoded) => {
    expect(decodeLog(transfer('0x1', STABLE, from, to, 1n)) !== null).toBe(isDecoded)
  })
})
