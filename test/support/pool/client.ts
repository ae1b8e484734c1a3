import { inject } from 'vitest'
import type { ChainOptions } from '../own-chain.js'
import type { PooledChain } from './chains.js'

async function ask<Result>(path: string, body: unknown): Promise<Result> {
  const response = await fetch(`${inject('poolUrl')}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${path}: ${answer}`)
  return answer as Result
}

/** The name of a migrated, empty database that this test alone uses. */
export const takeDatabase = (): Promise<string> => ask('/databases/take', null)
export const giveBackDatabase = (name: string): Promise<void> => ask('/databases/give-back', name)

/** A chain with a planned history that this test alone uses. */
export const takeChain = (options: ChainOptions): Promise<PooledChain> => ask('/chains/take', options)
export const giveBackChain = (id: string): Promise<void> => ask('/chains/give-back', id)

/** The database that was made of a chain's history under this name, or null. */
export const copyOf = (chain: string, name: string): Promise<string | null> => ask('/chains/copy-of', [chain, name])
/** Keeps a taken database for all tests of the run that get this chain, which only read it. */
export const keepCopy = (chain: string, name: string, database: string): Promise<void> =>
  ask('/chains/keep-copy', [chain, name, database])
