import { describe, expect, test } from 'vitest'
import { RECEIVE_POLICY_GUARD } from '../../../../clickhouse/holders/transfers.js'
import { TIP403_REGISTRY } from '../../../../ingest/chain/addresses.js'
import { decodeLog } from '../../../../ingest/chain/events.js'
import type { RawLog } from '../../../../ingest/chain/rpc-answers.js'
import { supplyEvents } from '../../../../ingest/stages/rewards.js'
import { roleEvents } from '../../../../ingest/stages/roles.js'
import { touchedStates } from '../../../../ingest/stages/states.js'
import { logoUpdates, policyEvents } from '../../../../ingest/stages/token-administration.js'
import { heldTransfers } from '../../../../ingest/stages/transfers.js'
import { encodedLog } from '../../../support/logs.js'

const STABLE = `0x20c0${'0'.repeat(20)}${'0a'.repeat(8)}`
const [ALICE, BOB, CAROL, DAVE] = ['a1', 'b2', 'c3', 'd4'].map((byte) => `0x${byte.repeat(20)}`)
const block = { number: 7, time: 1_790_000_000 }
const decoded = (logs: RawLog[]) => logs.map(decodeLog).filter((event) => event !== null)
const at = (log_index: number) => ({
  block_number: 7,
  log_index,
  block_time: 1_790_000_000,
  tx_hash: `0x${'70'.repeat(32)}`,
})

describe('events of forks that the local node does not support are decoded from their ABIs', () => {
  test('a transfer that is held back, claimed or burned', () => {
    const hold = { token: STABLE, receiver: ALICE, blockedNonce: 2n ** 64n - 1n, amount: 5_000_000n, receiptVersion: 1 }
    const receipt = `0x${'ab'.repeat(200)}`
    const ended = {
      ...hold,
      blockedAt: 1_789_999_999n,
      originator: BOB,
      recipient: ALICE,
      recoveryAuthority: CAROL,
      caller: CAROL,
    }
    const events = decoded([
      encodedLog('receivePolicyGuard', 'TransferBlocked', RECEIVE_POLICY_GUARD, { ...hold, receipt }),
      encodedLog('receivePolicyGuard', 'ReceiptClaimed', RECEIVE_POLICY_GUARD, { ...ended, to: DAVE }, { logIndex: 1 }),
      encodedLog('receivePolicyGuard', 'ReceiptBurned', RECEIVE_POLICY_GUARD, ended, { logIndex: 2 }),
    ])
    const row = { stable: STABLE, receiver: ALICE, blocked_nonce: '18446744073709551615', amount_raw: '5000000' }
    expect(heldTransfers(block, events)).toEqual([
      { kind: 'held', ...row, originator: null, caller: null, recipient: null, receipt, ...at(0) },
      { kind: 'claimed', ...row, originator: BOB, caller: CAROL, recipient: DAVE, receipt: null, ...at(1) },
      { kind: 'burned', ...row, originator: BOB, caller: CAROL, recipient: null, receipt: null, ...at(2) },
    ])
  })

  test('a burn from any account, which changes the supply and has a role of its own', () => {
    const role = '0x39f6ee57cf2acaf8eab1056c2dcc3068f1f3d6a61e4777cf2bfdad7b1df90a27'
    const events = decoded([
      encodedLog('tip20', 'BurnAt', STABLE, { burner: ALICE, from: BOB, amount: 2n ** 128n - 1n }),
      encodedLog('tip20', 'RoleMembershipUpdated', STABLE, { role, account: ALICE, sender: CAROL, hasRole: true }),
    ])
    expect(supplyEvents(block, events)).toEqual([
      { kind: 'burn_at', account: BOB, amount_raw: `${2n ** 128n - 1n}`, stable: STABLE, ...at(0) },
    ])
    expect(touchedStates(events.slice(0, 1)).stables).toEqual(new Set([STABLE]))
    expect(roleEvents(block, events)).toMatchObject([{ role, role_name: 'BURN_AT_ROLE', account: ALICE }])
  })

  test('an account’s own receive policy', () => {
    const args = { account: ALICE, senderPolicyId: 9n, tokenFilterId: 0n, recoveryAuthority: BOB }
    const events = decoded([encodedLog('tip403Registry', 'ReceivePolicyUpdated', TIP403_REGISTRY, args)])
    expect(policyEvents(block, events)).toEqual([
      {
        kind: 'receive_policy',
        stable: null,
        policy_id: null,
        policy_type: null,
        updater: ALICE,
        account: ALICE,
        is_member: null,
        sender_policy_id: '9',
        recipient_policy_id: null,
        mint_recipient_policy_id: null,
        token_filter_id: '0',
        recovery_authority: BOB,
        ...at(0),
      },
    ])
  })

  test('a logo, whatever it contains', () => {
    const newLogoURI = `javascript:alert('\0')//${ALICE?.toUpperCase()}`
    const events = decoded([encodedLog('tip20', 'LogoURIUpdated', STABLE, { updater: ALICE, newLogoURI })])
    expect(logoUpdates(block, events)).toEqual([{ stable: STABLE, logo_uri: newLogoURI, updater: ALICE, ...at(0) }])
  })

  test('the same logs of any other contract are ignored', () => {
    const args = { account: ALICE, senderPolicyId: 9n, tokenFilterId: 0n, recoveryAuthority: BOB }
    const elsewhere = `0x${'77'.repeat(20)}`
    expect(decodeLog(encodedLog('tip403Registry', 'ReceivePolicyUpdated', elsewhere, args))).toBeNull()
    expect(decodeLog(encodedLog('tip20', 'LogoURIUpdated', elsewhere, { updater: ALICE, newLogoURI: '' }))).toBeNull()
  })
})

test('a policy of an unknown type is stored as unknown, and is not guessed', () => {
  const args = { policyId: 5n, updater: ALICE, policyType: 3 }
  const events = decoded([encodedLog('tip403Registry', 'PolicyCreated', TIP403_REGISTRY, args)])
  expect(policyEvents(block, events)).toMatchObject([{ kind: 'created', policy_id: '5', policy_type: 'unknown' }])
})
