import { type EconomyFacts, iso, type Raw, until } from './rows.js'

/** In the order of the specification; any other role comes after them. */
const ORDER = [
  'DEFAULT_ADMIN_ROLE',
  'ISSUER_ROLE',
  'PAUSE_ROLE',
  'UNPAUSE_ROLE',
  'BURN_BLOCKED_ROLE',
  'BURN_AT_ROLE',
  '',
]

/** The role holders of a stable as of an instant: all grants, revocations and probes, replayed in chain order. */
export function rolesAt(facts: EconomyFacts, stable: string, at: number) {
  const isProbe = (record: Raw): boolean => 'has_role' in record
  const records = [
    ...until(facts.role_events, at, stable).filter(({ kind }) => kind !== 'admin'),
    ...until(facts.role_probes, at, stable),
    // The sort is stable: probes at the end of a block stay behind its events.
  ].sort((a, b) => a.block_number - b.block_number)
  const grants = new Map<string, Raw>()
  for (const record of records) {
    const key = `${record.role} ${record.account}`
    if (isProbe(record) ? !record.has_role : record.kind === 'revoked') grants.delete(key)
    else if (!grants.has(key)) grants.set(key, record)
  }
  const rank = ({ role_name }: Raw): number => ORDER.indexOf(`${role_name}`)
  return [...grants]
    .sort(([a, x], [b, y]) => rank(x) - rank(y) || (a < b ? -1 : 1))
    .map(([, record]) => ({
      role: record.role_name || record.role,
      account: record.account,
      granted_at: isProbe(record) ? null : iso(record.at),
      granted_block: isProbe(record) ? null : record.block_number,
      tx_hash: isProbe(record) ? null : record.tx_hash,
      source: isProbe(record) ? 'probe' : 'event',
    }))
}
