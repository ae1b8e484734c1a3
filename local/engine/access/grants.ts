import { isOwner, type User } from './users.js'

const read = ['SHOW', 'SELECT', 'dictGet']
const write = ['INSERT', 'ALTER DELETE', 'ALTER UPDATE', 'TRUNCATE', 'OPTIMIZE', 'SYSTEM VIEWS']
const own = [
  'ALTER TABLE',
  'ALTER DATABASE',
  'CREATE DATABASE',
  'CREATE TABLE',
  'DROP',
  'CHECK',
  'SYSTEM MERGES',
  'SYSTEM TTL MERGES',
  'SYSTEM MOVES',
  'SYSTEM CLEANUP',
  'SYSTEM SYNC REPLICA',
  'SYSTEM WAIT LOADING PARTS',
  'SYSTEM LOAD PRIMARY KEY',
  'SYSTEM UNLOAD PRIMARY KEY',
]
/**
 * Rights for owners of every database only: the engine runs dictionaries, refreshable views and views with a definer with
 * all rights, and a backup may contain any database.
 */
const everywhere = ['ALTER VIEW', 'CREATE VIEW', 'CREATE DICTIONARY', 'BACKUP', 'UNDROP TABLE']
/** SYSTEM is granted statement by statement, because SYSTEM SHUTDOWN would end the process. */
const server = [
  'CREATE FUNCTION',
  'DROP FUNCTION',
  'KILL QUERY',
  'SYSTEM FLUSH',
  'SYSTEM DROP CACHE',
  'SYSTEM RELOAD DICTIONARY',
  'SYSTEM RELOAD FUNCTION',
  'SYSTEM RELOAD ASYNCHRONOUS METRICS',
]

const privileges = { read, write: [...read, ...write], own: [...read, ...write, ...own] }

/**
 * The grants of a user's role, as GRANT statements. No source (file, command, address) is granted, so table functions and
 * engines that reach outside the data directory are refused (497).
 */
export function grantsOf(user: Pick<User, 'access' | 'databases'>): string[] {
  const { access, databases } = user
  const scopes = databases?.map((name) => `${name}.*`) ?? ['*.*']
  // Temporary tables are visible only in their own session.
  const statements = ['GRANT CREATE TEMPORARY TABLE, CREATE TEMPORARY VIEW ON *.*']
  // INSERT … SELECT … FROM input() buffers its rows in a temporary table on disk. What an engine may reach depends on
  // other grants.
  if (access !== 'read') statements.push('GRANT CREATE ARBITRARY TEMPORARY TABLE ON *.*')
  for (const scope of scopes) statements.push(`GRANT ${privileges[access].join(', ')} ON ${scope}`)
  // Row policies show users only their own rows.
  if (databases) statements.push('GRANT SELECT ON system.query_log', 'GRANT SELECT ON server_log.query_log')
  if (isOwner(user)) statements.push(`GRANT ${[...everywhere, ...server].join(', ')} ON *.*`)
  else if (!databases && access === 'write') statements.push(`REVOKE ${write.join(', ')} ON server_log.*`)
  return statements
}
