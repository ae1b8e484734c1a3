import type { User } from './users.js'

const read = ['SHOW', 'SELECT', 'dictGet']
const write = ['INSERT', 'ALTER DELETE', 'ALTER UPDATE', 'TRUNCATE', 'OPTIMIZE', 'SYSTEM VIEWS']
const own = [
  'ALTER',
  'CREATE DATABASE',
  'CREATE TABLE',
  'CREATE VIEW',
  'CREATE DICTIONARY',
  'DROP',
  'UNDROP TABLE',
  'CHECK',
  'BACKUP',
  'SYSTEM MERGES',
  'SYSTEM TTL MERGES',
  'SYSTEM MOVES',
  'SYSTEM CLEANUP',
  'SYSTEM SYNC REPLICA',
  'SYSTEM WAIT LOADING PARTS',
  'SYSTEM LOAD PRIMARY KEY',
  'SYSTEM UNLOAD PRIMARY KEY',
]
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
export function grantsOf({ access, databases }: Pick<User, 'access' | 'databases'>): string[] {
  const scopes = databases?.map((name) => `${name}.*`) ?? ['*.*']
  // Only the session itself sees what it makes by this.
  const statements = ['GRANT CREATE TEMPORARY TABLE, CREATE TEMPORARY VIEW ON *.*']
  for (const scope of scopes) statements.push(`GRANT ${privileges[access].join(', ')} ON ${scope}`)
  if (access === 'own' && !databases) statements.push(`GRANT ${server.join(', ')} ON *.*`)
  return statements
}
