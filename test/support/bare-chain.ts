import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base } from 'vitest'
import { type BareChain, startBareChain } from '../../local/chain/bare-chain.js'

/** A test that can start nodes without a market, which end with the test. */
export const test = base.extend<{ bareChain: (options?: Parameters<typeof startBareChain>[1]) => Promise<BareChain> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  bareChain: async ({}, use) => {
    const dirs: string[] = []
    const chains: BareChain[] = []
    await use(async (options) => {
      const dir = await mkdtemp(join(tmpdir(), 'plumbline-bare-'))
      dirs.push(dir)
      const chain = await startBareChain(dir, options)
      chains.push(chain)
      return chain
    })
    for (const chain of chains) await chain.stop()
    for (const dir of dirs) await rm(dir, { recursive: true, force: true })
  },
})
