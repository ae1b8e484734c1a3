import { printable, table } from '../text.js'
import { isSame } from './formulas.js'
import type { Block } from './node.js'

/** One figure of an answer, and what the node has instead. */
export type Finding = {
  what: string
  status: 'match' | 'mismatch' | 'unchecked'
  published: unknown
  recomputed: unknown
  /** Where it was read. */
  block_number: number | null
  block_hash: string | null
  /** Why it could not be checked. */
  why: string | null
}

const at = (block: Block | null) => ({ block_number: block?.number ?? null, block_hash: block?.hash ?? null })

/** A figure that was computed from a block. */
export const compared = (what: string, block: Block, published: unknown, recomputed: unknown): Finding => ({
  what,
  status: isSame(published, recomputed) ? 'match' : 'mismatch',
  published,
  recomputed,
  ...at(block),
  why: null,
})

export const unchecked = (what: string, published: unknown, why: string, block: Block | null = null): Finding => ({
  what,
  status: 'unchecked',
  published,
  recomputed: null,
  ...at(block),
  why,
})

/** 0 if all matches, 1 if something does not, 2 if something, or everything, was left unchecked. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ status }) => status === 'mismatch')) return 1
  return findings.length === 0 || findings.some(({ status }) => status === 'unchecked') ? 2 : 0
}

const shown = (value: unknown): string => printable(typeof value === 'string' ? value : JSON.stringify(value))

/** A line for each, then how many there are of each kind. */
export function findingLines(findings: readonly Finding[]): string[] {
  const rows = findings.map(({ what, status, published, recomputed, block_number, block_hash, why }) => [
    status,
    what,
    status === 'match' ? shown(published) : `published ${shown(published)}`,
    status === 'match' ? '' : status === 'mismatch' ? `node ${shown(recomputed)}` : (why && printable(why)) || '',
    block_number === null ? '' : `block ${block_number} ${block_hash}`,
  ])
  const count = (wanted: Finding['status']): number => findings.filter(({ status }) => status === wanted).length
  return [
    ...table(rows),
    `${count('match')} match, ${count('mismatch')} do not, ${count('unchecked')} could not be checked`,
  ]
}
