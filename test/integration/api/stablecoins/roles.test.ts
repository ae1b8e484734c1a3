import { expect } from 'vitest'
import { test } from '../../../support/app.js'
import { account, addRows, roleChange, roleProbe } from '../../../support/economy-rows.js'
import { addBlocks, stableAddress, stablecoin, txHash } from '../../../support/rows.js'

const STABLE = stableAddress(1)
const GENESIS = stableAddress(2)
const ORIGIN = 1_760_000_000
const url = (stable: string): string => `/api/v1/stablecoins/${stable}/roles`
const at = (block_number: number, log_index = 0) => ({
  block_number,
  block_time: ORIGIN + block_number,
  log_index,
})
const iso = (block: number): string => new Date((ORIGIN + block) * 1000).toISOString().replace('.000Z', 'Z')
const TOKENS = [
  stablecoin(1, { block_number: 1, block_time: ORIGIN + 1 }),
  stablecoin(2, { block_number: 0, block_time: ORIGIN, tx_hash: '' }),
]
const blocks = (count: number): number[] => Array.from({ length: count }, (_, i) => ORIGIN + 1 + i)

test('a role is held since the grant after the last revocation, and granting it again changes nothing', async ({
  app,
  clickhouse,
}) => {
  const issuer = { stable: STABLE, role_name: 'ISSUER_ROLE', holder: account(1) }
  const pauser = { stable: STABLE, role_name: 'PAUSE_ROLE', holder: account(1) }
  const admin = { stable: STABLE, role_name: 'DEFAULT_ADMIN_ROLE', holder: account(2) }
  await addBlocks(clickhouse, blocks(20))
  await addRows(clickhouse, {
    stablecoins: TOKENS,
    role_events: [
      roleChange('granted', admin, at(1)),
      roleChange('granted', issuer, at(2)),
      roleChange('revoked', issuer, at(3)),
      // Revoking and granting again in one block: the later log counts, wherever its row stands.
      roleChange('granted', issuer, at(5, 10)),
      roleChange('revoked', issuer, at(5, 9)),
      roleChange('granted', issuer, at(7)),
      roleChange('granted', pauser, at(4, 2)),
      roleChange('revoked', pauser, at(4, 10)),
      // A role outside TIP-20 is named by its id; granting it is not membership.
      { ...roleChange('granted', { ...issuer, role_name: '' }, at(8)), role: `0x${'ab'.repeat(32)}` },
      {
        ...roleChange('granted', issuer, at(9)),
        kind: 'admin' as const,
        account: null,
        new_admin_role: `0x${'ab'.repeat(32)}`,
      },
      roleChange('granted', { ...issuer, stable: GENESIS }, at(9)),
    ],
  })
  const roles = async (block?: number) => {
    const response = await app.inject({ url: url(STABLE), query: block === undefined ? {} : { as_of: iso(block) } })
    const body = response.json()
    expect(body.as_of).toBe(response.headers['x-service-as-of'])
    return body
  }
  const held = (role: string, holder: number, block: number, log = 0) => ({
    role,
    account: account(holder),
    granted_at: iso(block),
    granted_block: block,
    tx_hash: txHash(block * 1000 + log),
    source: 'event',
  })
  const now = await roles()
  expect(now).toMatchObject({ address: STABLE, coverage: { status: 'complete' } })
  expect(now.roles).toEqual([
    held('DEFAULT_ADMIN_ROLE', 2, 1),
    held('ISSUER_ROLE', 1, 5, 10),
    held(`0x${'ab'.repeat(32)}`, 1, 8),
  ])
  expect((await roles(2)).roles).toEqual([held('DEFAULT_ADMIN_ROLE', 2, 1), held('ISSUER_ROLE', 1, 2)])
  expect((await roles(4)).roles).toEqual([held('DEFAULT_ADMIN_ROLE', 2, 1)])
  expect((await roles(5)).roles).toEqual([held('DEFAULT_ADMIN_ROLE', 2, 1), held('ISSUER_ROLE', 1, 5, 10)])
  expect((await app.inject({ url: url(STABLE), query: { as_of: iso(0) } })).statusCode).toBe(404)
})

test('for a genesis token, probes complete the events, and the newest information counts', async ({
  app,
  clickhouse,
}) => {
  const of = (role_name: string, holder: number) => ({ stable: GENESIS, role_name, holder: account(holder) })
  await addBlocks(clickhouse, blocks(20))
  await addRows(clickhouse, {
    stablecoins: TOKENS,
    role_probes: [
      // Held since an unknown time; probed twice.
      roleProbe(of('DEFAULT_ADMIN_ROLE', 1), true, at(3)),
      roleProbe(of('DEFAULT_ADMIN_ROLE', 1), true, at(9)),
      roleProbe(of('ISSUER_ROLE', 1), false, at(3)),
      // Granted by a log, then confirmed by a probe at the end of the same block.
      roleProbe(of('PAUSE_ROLE', 2), true, at(5)),
      // Held, revoked and granted again.
      roleProbe(of('UNPAUSE_ROLE', 3), true, at(3)),
      // Revoked by a log of the block at whose end it was probed.
      roleProbe(of('BURN_AT_ROLE', 5), true, at(3)),
      roleProbe(of('BURN_BLOCKED_ROLE', 4), true, at(3)),
      roleProbe(of('BURN_BLOCKED_ROLE', 4), false, at(8)),
    ],
    role_events: [
      roleChange('granted', of('PAUSE_ROLE', 2), at(5, 7)),
      roleChange('revoked', of('UNPAUSE_ROLE', 3), at(6)),
      roleChange('granted', of('UNPAUSE_ROLE', 3), at(7, 3)),
      roleChange('revoked', of('BURN_BLOCKED_ROLE', 4), at(8, 1)),
    ],
  })
  const read = async (block?: number) =>
    (await app.inject({ url: url(GENESIS), query: block === undefined ? {} : { as_of: iso(block) } })).json()
  const probed = (role: string, holder: number) => ({
    role,
    account: account(holder),
    granted_at: null,
    granted_block: null,
    tx_hash: null,
    source: 'probe',
  })
  const logged = (role: string, holder: number, block: number, log: number) => ({
    role,
    account: account(holder),
    granted_at: iso(block),
    granted_block: block,
    tx_hash: txHash(block * 1000 + log),
    source: 'event',
  })
  const now = await read()
  expect(now.coverage.status).toBe('partial')
  expect(now.roles).toEqual([
    probed('DEFAULT_ADMIN_ROLE', 1),
    logged('PAUSE_ROLE', 2, 5, 7),
    logged('UNPAUSE_ROLE', 3, 7, 3),
    probed('BURN_AT_ROLE', 5),
  ])
  expect((await read(4)).roles).toEqual([
    probed('DEFAULT_ADMIN_ROLE', 1),
    probed('UNPAUSE_ROLE', 3),
    probed('BURN_BLOCKED_ROLE', 4),
    probed('BURN_AT_ROLE', 5),
  ])
})

test('roles are partial if blocks since the creation are missing', async ({ app, clickhouse }) => {
  const status = async (): Promise<string> => (await app.inject(url(STABLE))).json().coverage.status
  await addRows(clickhouse, { stablecoins: TOKENS })
  // The creation is in block 1; blocks 4 and 5 are read last.
  await addBlocks(clickhouse, [ORIGIN + 2, ORIGIN + 3], 2)
  expect(await status()).toBe('partial')
  await addBlocks(clickhouse, [ORIGIN + 1], 1)
  expect(await status()).toBe('complete')
  await addBlocks(clickhouse, [ORIGIN + 6], 6)
  expect(await status()).toBe('partial')
  await addBlocks(clickhouse, [ORIGIN + 4, ORIGIN + 5], 4)
  expect(await status()).toBe('complete')
})
