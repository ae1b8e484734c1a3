import { expect, test } from 'vitest'
import { shippedTokens } from '../../../ingest/token-list/shipped.js'
import { tokenListLine } from '../../../local/start-chain.js'

const made_at = shippedTokens(4217)?.made_at.getTime() ?? 0
const after = (days: number): Date => new Date(made_at + days * 86_400_000)

test('on a real chain `npm start` prints how old the list is, and from 31 days on that it should be replaced', () => {
  expect(tokenListLine('tempo', undefined, after(30))).toBe('token list  35 tokens, 30 days old')
  expect(tokenListLine('tempo', undefined, after(31))).toContain('31 days old: newer tokens are unlisted')
})

test('of a list of your own it prints where it is, without what may be secret', () => {
  const url = new URL('https://user:hunter2@lists.example/hunter2?key=hunter2')
  expect(tokenListLine('tempo', { url }, after(99))).toBe('token list  https://lists.example (yours)')
})

test('a local chain has no public list', () => {
  expect(tokenListLine('devnet', undefined, after(99))).toBeNull()
})
