import { isoSeconds } from '../../../process/instants.js'
import { tokens } from './ratings.js'

type Facts = {
  currency: string
  tier: 'listed' | 'unlisted'
  supply: { current: string; cap: string | null } | null
}
type Origin = { block_number: number; created_at: Date; admin: string }

/**
 * A briefing on a stable that nobody wrote about: what the chain itself says, and that it says no more. No text of the
 * token's own is repeated: anybody can name a token anything.
 */
export function measuredBriefing(
  { currency, tier, supply }: Facts,
  { block_number, created_at, admin }: Origin,
): { origin: string; backing: string; issuer_context: string } {
  const when = isoSeconds(created_at)
  const origin =
    block_number === 0
      ? `Part of the chain since its genesis block, ${when}.`
      : `Created by the token factory in block ${block_number}, ${when}.`
  const worth =
    currency === 'USD' ? 'It is a dollar stable by its own word.' : 'It is no dollar stable by its own word.'
  const list =
    tier === 'listed' ? "It is on the chain's public token list." : "It is not on the chain's public token list."
  const creator =
    admin === '' ? 'The chain does not say who was given its administration.' : `${admin} was given its administration.`
  const issued = supply === null ? 'Its supply has not been read yet.' : `${tokens(supply.current)} tokens are issued.`
  return {
    origin: `${origin} ${worth} ${list}`,
    backing: 'not-stated',
    issuer_context: `Nobody has written about its issuer here. ${creator} ${issued} What backs it cannot be read off the chain.`,
  }
}
