import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { type FeeElection, feeElectionCounts } from '../../../../clickhouse/fees/fees.js'
import { migrate } from '../../../../clickhouse/migrations/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { migrateUpTo } from '../../../support/migrations.js'
import { stableAddress as address, txHash } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const START = 1_780_000_200

const election = (kind: FeeElection['kind'], account: number, stable: number, second: number): FeeElection => ({
  kind,
  account: address(account),
  stable: address(stable),
  block_number: second,
  log_index: 0,
  block_time: START + second,
  tx_hash: txHash(second),
})

test('choices from before count beside later ones of the same account', async ({ emptyClickhouseEnv: env }) => {
  const clickhouse = connect(env, { application: 'plumbline-test' })
  const name = await migrateUpTo(env, clickhouse, '_fee_choosers.sql')
  const counts = async (second: number): Promise<unknown[]> => {
    const found = await feeElectionCounts(clickhouse, { at: new Date((START + second) * 1000) })
    return found.map((row) => [row.stable, row.users_electing, row.validators_electing]).sort()
  }
  const before = [election('user', 7, 1, 1), election('validator', 7, 1, 2), election('user', 8, 1, 3)]
  await insertFacts(clickhouse, 'fee_elections', before, 'one')
  await migrate(env)
  // A migration that was killed before it was recorded is repeated as a whole.
  await clickhouse.command({ query: `DELETE FROM schema_migrations WHERE name = '${name}'` })
  await migrate(env)
  await insertFacts(clickhouse, 'fee_elections', [election('user', 7, 2, 4)], 'two')
  expect(await counts(3)).toEqual([[address(1), 2, 1]])
  expect(await counts(4)).toEqual([
    [address(1), 1, 1],
    [address(2), 1, 0],
  ])
  await clickhouse.close()
})
