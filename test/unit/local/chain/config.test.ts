import { expect, test } from 'vitest'
import { parseConfig } from '../../../../local/chain/config.js'

test('without variables it is a day of history, a block a minute, and then live', () => {
  const config = parseConfig({ DATA_DIR: '/tmp/x', DEVNET_SEED: '' })
  expect(config).toMatchObject({ chainDir: '/tmp/x/chain', port: 8545, live: true })
  expect(config.plan).toEqual({ seed: 1, stables: 10, blocks: 1440, blockSeconds: 60, liveBlockSeconds: 1 })
})

test('all bad variables are named at once', () => {
  const env = { DEVNET_PORT: '99999', DEVNET_STABLES: '3', DEVNET_LIVE: 'maybe', DEVNET_SEED: '1.5' }
  expect(() => parseConfig(env)).toThrow(/DEVNET_PORT.*DEVNET_SEED.*DEVNET_STABLES.*DEVNET_LIVE/s)
})

test('hours that make no whole block are rounded, and the market is always set up', () => {
  expect(parseConfig({ DEVNET_HISTORY_HOURS: '1.99' }).plan.blocks).toBe(119)
  expect(parseConfig({ DEVNET_HISTORY_HOURS: '0' }).plan.blocks).toBe(5)
})
