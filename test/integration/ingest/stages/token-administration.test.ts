import { encodeFunctionData, type Hex, keccak256, toEventSelector, toHex, zeroHash } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { expect } from 'vitest'
import { accounts } from '../../../../local/chain/accounts.js'
import { type Call, call, role } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { testOn, useStillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { logPositions, mine, newToken } from '../../../support/transactions.js'

const ROLE_CHANGED = toEventSelector('RoleMembershipUpdated(bytes32,address,address,bool)')
const ROLE_ADMIN_CHANGED = toEventSelector('RoleAdminUpdated(bytes32,bytes32,address)')
const PAUSED = toEventSelector('PauseStateUpdate(address,bool)')
const PROPOSED = toEventSelector('NextQuoteTokenSet(address,address)')

const chain = useStillChain({ historyBlocks: 30 })
const test = testOn(chain)

const { issuer, compliance, guardian } = accounts
const [own, other] = accounts.traders
const lower = (address: string): string => address.toLowerCase()

type Tip20Call = Parameters<typeof encodeFunctionData<typeof Abis.tip20>>[0]
const tip20 = (to: Hex, request: Omit<Tip20Call, 'abi'>): Call => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, ...request } as Tip20Call),
})
type RegistryCall = Parameters<typeof encodeFunctionData<typeof Abis.tip403Registry>>[0]
const registry = (request: Omit<RegistryCall, 'abi'>): Call => ({
  to: Addresses.tip403Registry,
  data: encodeFunctionData({ abi: Abis.tip403Registry, ...request } as RegistryCall),
})

test('roles follow grants, revocations, renouncements and changes of their admin role', async ({
  clickhouse,
  takeIn,
}) => {
  const { token, receipt: made } = await newToken(chain, 1001)
  const odd = keccak256(toHex('NO_KNOWN_ROLE'))
  const receipts = await mine(chain, [
    { from: issuer, calls: [call.grantRole(token, role.pause, guardian.address)] },
    {
      from: issuer,
      calls: [call.grantRole(token, odd, own.address), call.revokeRole(token, role.pause, guardian.address)],
    },
    // A role that is not held: the chain emits the event nevertheless.
    { from: issuer, calls: [call.revokeRole(token, role.unpause, other.address)] },
    { from: own, calls: [tip20(token, { functionName: 'renounceRole', args: [odd] })] },
    { from: issuer, calls: [tip20(token, { functionName: 'setRoleAdmin', args: [role.pause, role.issuer] })] },
  ])
  await takeIn()

  const all = [made, ...receipts].filter((receipt) => receipt !== undefined)
  expect(all.map(({ status }) => status)).toEqual(Array(6).fill('0x1'))
  const change = (kind: string, changed: Hex, role_name: string, account: string, sender: string) => ({
    kind,
    role: changed,
    role_name,
    account: lower(account),
    new_admin_role: null,
    sender: lower(sender),
  })
  const positions = all.flatMap((receipt) => [
    ...logPositions(receipt, ROLE_CHANGED),
    ...logPositions(receipt, ROLE_ADMIN_CHANGED),
  ])
  const expected = [
    change('granted', zeroHash, 'DEFAULT_ADMIN_ROLE', issuer.address, issuer.address),
    change('granted', role.pause, 'PAUSE_ROLE', guardian.address, issuer.address),
    change('granted', odd, '', own.address, issuer.address),
    change('revoked', role.pause, 'PAUSE_ROLE', guardian.address, issuer.address),
    change('revoked', role.unpause, 'UNPAUSE_ROLE', other.address, issuer.address),
    change('revoked', odd, '', own.address, own.address),
    { ...change('admin', role.pause, 'PAUSE_ROLE', '', issuer.address), account: null, new_admin_role: role.issuer },
  ].map((row, i) => ({ ...row, stable: token, ...positions[i] }))
  const hashes = all.map(({ transactionHash }) => transactionHash)
  expect(await factRows(clickhouse, 'role_events', hashes)).toEqual(expected)
})

test('pauses and proposed quote tokens are those of the transactions', async ({ clickhouse, takeIn }) => {
  const { token } = await newToken(chain, 1002)
  const quote = chain.plan.stable('ABUSD').address
  const receipts = await mine(chain, [
    {
      from: issuer,
      calls: [
        call.grantRole(token, role.pause, guardian.address),
        call.grantRole(token, role.unpause, compliance.address),
      ],
    },
    { from: guardian, calls: [call.pause(token)] },
    { from: compliance, calls: [call.unpause(token)] },
    {
      from: issuer,
      calls: [tip20(token, { functionName: 'setNextQuoteToken', args: [quote] })],
    },
    { from: issuer, calls: [tip20(token, { functionName: 'completeQuoteTokenUpdate' })] },
  ])
  expect(receipts.map(({ status }) => status)).toEqual(Array(5).fill('0x1'))
  await takeIn()

  const hashes = receipts.map(({ transactionHash }) => transactionHash)
  const at = (topic: string) => receipts.flatMap((receipt) => logPositions(receipt, topic))
  expect(await factRows(clickhouse, 'pause_events', hashes)).toEqual([
    { stable: token, is_paused: true, updater: lower(guardian.address), ...at(PAUSED)[0] },
    { stable: token, is_paused: false, updater: lower(compliance.address), ...at(PAUSED)[1] },
  ])
  expect(await factRows(clickhouse, 'quote_token_proposals', hashes)).toEqual([
    { stable: token, quote_token: quote, updater: lower(issuer.address), ...at(PROPOSED)[0] },
  ])
  expect(await factRows(clickhouse, 'quote_token_updates', hashes)).toMatchObject([
    { stable: token, quote_token: quote },
  ])
})

test('policies are created, filled, transferred and assigned as in the transactions', async ({
  clickhouse,
  takeIn,
}) => {
  const { token } = await newToken(chain, 1003)
  const data = encodeFunctionData({ abi: Abis.tip403Registry, functionName: 'policyIdCounter' })
  const counter = await createRpc(chain.rpcUrl).call('eth_call', [{ to: Addresses.tip403Registry, data }, 'latest'])
  const next = BigInt(counter as Hex)
  const [white, black, both] = [next, next + 1n, next + 2n] as const
  const receipts = await mine(chain, [
    { from: compliance, calls: [registry({ functionName: 'createPolicy', args: [compliance.address, 0] })] },
    { from: compliance, calls: [call.createPolicy(guardian.address, 'blacklist', [own.address, other.address])] },
    { from: compliance, calls: [call.createCompoundPolicy(white, black, 1n)] },
    {
      from: compliance,
      calls: [registry({ functionName: 'modifyPolicyWhitelist', args: [white, own.address, true] })],
    },
    {
      from: compliance,
      calls: [
        registry({ functionName: 'modifyPolicyWhitelist', args: [white, own.address, false] }),
        registry({ functionName: 'setPolicyAdmin', args: [white, guardian.address] }),
      ],
    },
    { from: guardian, calls: [call.restrict(black, other.address, false)] },
    { from: issuer, calls: [call.changePolicy(token, both)] },
  ])
  expect(receipts.map(({ status }) => status)).toEqual(Array(7).fill('0x1'))
  await takeIn()

  const nothing = {
    stable: null,
    policy_id: null,
    policy_type: null,
    account: null,
    is_member: null,
    sender_policy_id: null,
    recipient_policy_id: null,
    mint_recipient_policy_id: null,
    token_filter_id: null,
    recovery_authority: null,
  }
  const by = ({ address }: { address: string }) => ({ updater: lower(address) })
  const member = (kind: string, id: bigint, account: string, is_member: boolean) => ({
    ...nothing,
    kind,
    policy_id: `${id}`,
    account: lower(account),
    is_member,
  })
  const admin = (id: bigint, account: string) => ({
    ...nothing,
    kind: 'admin',
    policy_id: `${id}`,
    account: lower(account),
  })
  const expected = [
    { ...nothing, kind: 'created', policy_id: `${white}`, policy_type: 'whitelist', ...by(compliance) },
    { ...admin(white, compliance.address), ...by(compliance) },
    // The accounts of a policy come before the policy.
    { ...member('blacklist', black, own.address, true), ...by(compliance) },
    { ...member('blacklist', black, other.address, true), ...by(compliance) },
    { ...nothing, kind: 'created', policy_id: `${black}`, policy_type: 'blacklist', ...by(compliance) },
    { ...admin(black, guardian.address), ...by(compliance) },
    {
      ...nothing,
      kind: 'compound_created',
      policy_id: `${both}`,
      policy_type: 'compound',
      ...by(compliance),
      sender_policy_id: `${white}`,
      recipient_policy_id: `${black}`,
      mint_recipient_policy_id: '1',
    },
    { ...member('whitelist', white, own.address, true), ...by(compliance) },
    { ...member('whitelist', white, own.address, false), ...by(compliance) },
    { ...admin(white, guardian.address), ...by(compliance) },
    { ...member('blacklist', black, other.address, false), ...by(guardian) },
    { ...nothing, kind: 'token_policy', stable: token, policy_id: `${both}`, ...by(issuer) },
  ]
  // All logs of these transactions except the fees.
  const positions = receipts.flatMap(({ logs, transactionHash, blockNumber }) =>
    logs
      .slice(0, -1)
      .map(({ logIndex }) => ({ block_number: blockNumber, log_index: logIndex, tx_hash: transactionHash })),
  )
  const hashes = receipts.map(({ transactionHash }) => transactionHash)
  expect(await factRows(clickhouse, 'policy_events', hashes)).toEqual(
    expected.map((row, i) => ({ ...row, ...positions[i] })),
  )
  expect(positions).toHaveLength(expected.length)
})
