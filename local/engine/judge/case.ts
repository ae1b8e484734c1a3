import type { User } from '../access/users.js'
import { accessDenied, type EngineError } from '../engine/errors.js'
import type { Canonical } from '../sql/canonical.js'
import type { Node } from '../sql/tree.js'
import { allowedSystemTables } from './allowed/system-tables.js'

/** A statement as the engine parses it, with its parameters in place. */
export type Parsed = { tree: Node; canonical: Canonical }

/** What the engine offers, in lower case. */
export type Known = {
  functions: ReadonlySet<string>
  tableFunctions: ReadonlySet<string>
  /** Tables of the database system. */
  systemTables: ReadonlySet<string>
  /** The server's own values, by name. */
  settings: ReadonlyMap<string, string>
  tableSettings: ReadonlySet<string>
}

export type Verdict = {
  /** Whether the verdict depends on values in the statement, so that other values need another one. */
  readsValues: boolean
  /** A statement that has to be judged as well: conditions that the printed tree leaves out. */
  also: string | undefined
  /** The format that the statement names. */
  format: string | undefined
}

/** What is known while a tree is judged. */
export type Case = Parsed & {
  user: User
  database: string
  known: Known
  /** Names of lambdas that the statement defines. */
  lambdas: ReadonlySet<string>
  verdict: Verdict
  refuse(what: string): EngineError
}

/**
 * Throws if a name means a table that the user may not read: one of the database system that is not on the list, or for
 * users of some databases one of another. The text before the first dot is the database.
 */
export function assertNamed(one: Case, name: string): void {
  const dot = name.indexOf('.')
  const database = dot < 0 ? one.database : name.slice(0, dot)
  const table = name.slice(dot + 1)
  // Without a database, a name that no table has may be that of a WITH.
  const isOfSystem = database === 'system' && (dot >= 0 || one.known.systemTables.has(table.toLowerCase()))
  if (isOfSystem && !allowedSystemTables.has(table)) throw one.refuse(`The table system.${table}`)
  const { databases } = one.user
  if (!databases || dot < 0 || everybodys.has(database) || databases.includes(database)) return
  throw accessDenied(
    `${one.user.name}: Not enough privileges. To execute this query, it's necessary to have the grant SELECT ON ${name}`,
  )
}

const everybodys = new Set(['system', 'information_schema', 'INFORMATION_SCHEMA'])
