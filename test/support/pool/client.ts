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
