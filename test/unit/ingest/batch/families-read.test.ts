import { expect, test } from 'vitest'
import { familiesRead } from '../../../../ingest/batch/scope.js'
import { IngestConfig } from '../../../../ingest/config.js'
import { parseEnv } from '../../../../process/environment.js'

const read = (env: Record<string, string>) =>
  familiesRead(parseEnv(IngestConfig, { RPC_URL: 'http://127.0.0.1:8545', ...env }))

const OTHERS = ['catalogue', 'logs', 'pegs', 'state']

test('transfers are read if holders are tracked: by default only on a local chain', () => {
  expect(read({})).toEqual(OTHERS)
  expect(read({ TRACK_HOLDERS: '' })).toEqual(OTHERS)
  expect(read({ CHAIN: 'tempo-testnet' })).toEqual(OTHERS)
  expect(read({ TRACK_HOLDERS: 'true' })).toEqual([...OTHERS, 'transfers'])
  expect(read({ CHAIN: 'devnet' })).toEqual([...OTHERS, 'transfers'])
  expect(read({ CHAIN: 'devnet', TRACK_HOLDERS: 'false' })).toEqual(OTHERS)
  expect(() => read({ TRACK_HOLDERS: 'yes' })).toThrow('TRACK_HOLDERS: must be true or false')
})
