import { concat, type Hex, keccak256, numberToHex, pad, zeroHash } from 'viem'
import { expect } from 'vitest'
import { accounts } from '../../../../local/chain/accounts.js'
import { call, role } from '../../../../local/chain/calls.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { GENESIS_STABLES, PATH_USD } from '../../../../local/chain/stables.js'
import { useStillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { test } from '../../../support/services.js'
import { mine, type Receipt } from '../../../support/transactions.js'

const chain = useStillChain({ historyBlocks: 30 })

const { issuer, guardian } = accounts
const lower = (address: string): string => address.toLowerCase()

/** A token's storage begins with the role holders: account, then role. */
const roleSlot = (account: Hex, held: Hex): Hex =>
  keccak256(concat([held, keccak256(concat([pad(account), numberToHex(0, { size: 32 })]))]))

test('roles are checked for the administrators of genesis tokens and of new stables', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  // A real chain does this at genesis: no log says that the issuer administers pathUSD.
  const one = numberToHex(1, { size: 32 })
  await createRpc(chain.rpcUrl).call('anvil_setStorageAt', [PATH_USD.address, roleSlot(issuer.address, zeroHash), one])
  const [granted] = (await mine(chain, [
    { from: issuer, calls: [call.grantRole(PATH_USD.address, role.pause, guardian.address)] },
  ])) as [Receipt]
  expect(granted.status).toBe('0x1')
  const [unrelated] = (await mine(chain, [
    { from: issuer, calls: [call.mint(chain.plan.stable('ABUSD').address, issuer.address, 1n)] },
  ])) as [Receipt]
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const answer = await clickhouse.query({
    query: `SELECT toUInt32(block_number) AS block_number, stable, account, role_name, role, has_role FROM role_probes ORDER BY ALL`,
    format: 'JSONEachRow',
  })
  type Row = { block_number: number; stable: string; account: string; role: Hex; role_name: string; has_role: boolean }
  const rows = await answer.json<Row>()
  const genesis = [PATH_USD.address, ...GENESIS_STABLES.map(({ address }) => address)]
  const roles = {
    BURN_AT_ROLE: '0x39f6ee57cf2acaf8eab1056c2dcc3068f1f3d6a61e4777cf2bfdad7b1df90a27',
    BURN_BLOCKED_ROLE: role.burnBlocked,
    DEFAULT_ADMIN_ROLE: zeroHash,
    ISSUER_ROLE: role.issuer,
    PAUSE_ROLE: role.pause,
    UNPAUSE_ROLE: role.unpause,
  }
  const expected = (block_number: number, probed: string[], held: string[]) =>
    genesis.flatMap((stable) =>
      probed.sort().flatMap((account) =>
        Object.entries(roles).map(([role_name, id]) => ({
          block_number,
          stable,
          account,
          role_name,
          role: id,
          has_role: held.includes(`${stable} ${account} ${role_name}`),
        })),
      ),
    )
  expect(rows.filter(({ block_number }) => block_number === granted.blockNumber)).toEqual(
    expected(
      granted.blockNumber,
      [lower(issuer.address), lower(guardian.address)],
      [
        `${PATH_USD.address} ${lower(issuer.address)} DEFAULT_ADMIN_ROLE`,
        `${PATH_USD.address} ${lower(guardian.address)} PAUSE_ROLE`,
      ],
    ),
  )
  // The market's stables were created in its first blocks, all by the issuer, who held no role of the genesis tokens
  // then.
  const before = rows.filter(({ block_number }) => block_number < granted.blockNumber)
  const made = [...new Set(before.map(({ block_number }) => block_number))]
  expect(made.length).toBeGreaterThan(0)
  expect(before).toEqual(made.flatMap((block) => expected(block, [lower(issuer.address)], [])))
  expect(rows.some(({ block_number }) => block_number === unrelated.blockNumber)).toBe(false)
})
