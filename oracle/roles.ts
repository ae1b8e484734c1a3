import { type EconomyFacts, iso, type Raw, until } from './rows.js'

/** In the order of the specification; any other role comes after them. */
const ORDER = ['DEFAULT_ADMIN_ROLE', 'ISSUER_ROLE', 'PAUSE_ROLE', 'UNPAUSE_ROLE', 'BURN_BLOCKED_ROLE', '']

/** The role holders of a stable as of an instant: all grants, revocations and probes, replayed in chain order. */
export function rolesAt(facts: EconomyFacts, stable: string, at: number) {
  const isProbe = (word: Raw): boolean => 'has_role' in word
  const words = [
    ...until(facts.role_events, at, stable).filter(({ kind }) => kind !== 'admin'),
    ...until(facts.role_probes, at, stable),
    // The sort is stable: probes at the end of a block stay behind its events.
  ].sort((a, b) => a.block_number - b.block_number)
  const held = new Map<string, Raw>()
  for (const word of words) {
    const key = `${word.role} ${word.account}`
    if (isProbe(word) ? !word.has_role : word.kind === 'revoked') held.delete(key)
    else if (!held.has(key)) held.set(key, word)
  }
  const rank = ({ role_name }: Raw): number => ORDER.indexOf(`${role_name}`)
  return [...held]
    .sort(([a, x], [b, y]) => rank(x) - rank(y) || (a < b ? -1 : 1))
    .map(([, word]) => ({
      role: word.role_name || word.role,
      account: word.account,
      granted_at: isProbe(word) ? null : iso(word.at),
      granted_block: isProbe(word) ? null : word.block_number,
      tx_hash: isProbe(word) ? null : word.tx_hash,
      source: isProbe(word) ? 'probe' : 'event',
    }))
}
