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
 * The engine reads what dictionaries, refreshable views and views with a definer read with every right there is, so they
 * are for those who have every database; a backup may hold any database.
 */
const everywhere = ['ALTER VIEW', 'CREATE VIEW', 'CREATE DICTIONARY', 'BACKUP', 'UNDROP TABLE']
/** SYSTEM is granted by parts, because SYSTEM SHUTDOWN would end the process. */
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
 * The grants of a user's role, as GRANT statements. They hold everything that needs no file, command or address outside
 * of the data directory: without a grant on a source, its table functions and engines are refused (497).
 */
export function grantsOf(user: Pick<User, 'access' | 'databases'>): string[] {
  const { access, databases } = user
  const scopes = databases?.map((name) => `${name}.*`) ?? ['*.*']
  // Only the session itself sees what it makes by this.
  const statements = ['GRANT CREATE TEMPORARY TABLE, CREATE TEMPORARY VIEW ON *.*']
  // The rows of INSERT … SELECT … FROM input() wait on the disk. What an engine may reach is for other grants to say.
  if (access !== 'read') statements.push('GRANT CREATE ARBITRARY TEMPORARY TABLE ON *.*')
  for (const scope of scopes) statements.push(`GRANT ${privileges[access].join(', ')} ON ${scope}`)
  // Of its rows everybody sees his own.
  if (databases) statements.push('GRANT SELECT ON system.query_log', 'GRANT SELECT ON server_log.query_log')
  if (isOwner(user)) statements.push(`GRANT ${[...everywhere, ...server].join(', ')} ON *.*`)
  else if (!databases && access === 'write') statements.push(`REVOKE ${write.join(', ')} ON server_log.*`)
  return statements
}
