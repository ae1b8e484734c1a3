import { expect, inject, onTestFinished } from 'vitest'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { stillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestAll } from '../../../support/ingest.js'
import { fingerprintOfHistory } from '../../../support/ingested.js'
import { test } from '../../../support/services.js'

test('rows and views are the same whatever the profile of the user sets that migrates and ingests', async ({
  emptyClickhouseEnv,
}) => {
  const env = { ...emptyClickhouseEnv, ...inject('clickhouseUsers').other }
  await migrate(env)
  const clickhouse = connect(env, { application: 'plumbline-test' })
  onTestFinished(() => clickhouse.close())
  const chain = await stillChain({ historyBlocks: 60, seed: 1 })
  onTestFinished(() => chain.remove())
  await ingestAll(env, clickhouse, chain.rpcUrl, chain.head)
  const reader = connect(emptyClickhouseEnv, { application: 'plumbline-test' })
  onTestFinished(() => reader.close())
  expect(await fingerprint(reader)).toEqual(await fingerprintOfHistory(chain))
})
