import { expect, test } from 'vitest'
import { parseConfig } from '../../config.js'

test('by default there is a day of history with a block per minute, and then live blocks', () => {
  const config = parseConfig({ DATA_DIR: '/tmp/x', DEVNET_SEED: '' })
  expect(config).toMatchObject({ chainDir: '/tmp/x/chain', port: 8545, live: true })
  expect(config.plan).toEqual({ seed: 1, stables: 10, blocks: 1440, blockSeconds: 60, liveBlockSeconds: 1 })
})

test('all bad variables are named at once', () => {
  const env = { DEVNET_PORT: '99999', DEVNET_STABLES: '3', DEVNET_LIVE: 'maybe', DEVNET_SEED: '1.5' }
  expect(() => parseConfig(env)).toThrow(/DEVNET_PORT.*DEVNET_SEED.*DEVNET_STABLES.*DEVNET_LIVE/s)
})

test('hours are rounded to whole blocks, and there are always enough blocks for the setup', () => {
  expect(parseConfig({ DEVNET_HISTORY_HOURS: '1.99' }).plan.blocks).toBe(119)
  expect(parseConfig({ DEVNET_HISTORY_HOURS: '0' }).plan.blocks).toBe(5)
})
