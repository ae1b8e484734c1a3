import type { AddressInfo } from 'node:net'
import { test as base } from 'vitest'
import { type Market, withMarket } from './market.js'

type ServedMarket = {
  market: Market
  /** Where the API over that market listens. */
  origin: string
}

/** A test of programs that ask a running service over HTTP. */
export const test = base.extend<ServedMarket>({
  market: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withMarket({ historyBlocks: 60, blockSeconds: 300, stables: 9, seed: 3 }, use),
    { scope: 'file' },
  ],
  origin: [
    async ({ market: { app } }, use) => {
      await app.listen({ port: 0, host: '127.0.0.1' })
      await use(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
    },
    { scope: 'file' },
  ],
})
