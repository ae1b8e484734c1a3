import { isOwner, type User } from '../access/users.js'
import type { Engine } from '../engine/engine.js'
import { accessName } from '../engine/engine-config.js'
import { assertSameFormat } from '../judge/request.js'
import { ownGrants, replaceProcesses } from '../sql/rewrite.js'
import { analyse, type Statement } from '../sql/statement.js'
import type { Rows } from './insert.js'
import { processesOf } from './processes.js'
import type { Registry } from './registry.js'
import { mayEvaluate, mayHaveExpressions } from './values-format.js'

/** Who asks, in which database, and what decides about it. */
export type Asker = {
  user: User
  database: string
  engine: Engine
  registry: Registry
  /** The class of a text in the engine's parser. Throws EngineError unless it is one of `expected`, if given. */
  classOf: (sql: string, expected: readonly number[] | undefined) => Promise<number>
}

type Insert = Extract<Statement, { kind: 'insert' }>
type Other = Exclude<Statement, Insert>

/** Throws EngineError unless the user may run an INSERT. Its rows are not judged: they are never SQL. */
export async function admitInsert(asker: Asker, { head, tail }: Insert, params: Record<string, string>): Promise<void> {
  const text = `${head} ${tail}`
  // Class 3 is a table function as the target, which is subject to grants.
  await asker.classOf(text, [1, 3, 4])
  await asker.engine.verdicts.assertAllowed(asker.user, asker.database, text, params)
}

/**
 * Throws EngineError unless the user may run a statement and read its result in `format`. Returns the statement as it
 * runs, with data about all users replaced by what this user may see, and its class before that.
 */
export async function admit<S extends Other>(
  asker: Asker,
  statement: S,
  format: string,
  params: Record<string, string>,
): Promise<{ admitted: S; queryClass: number }> {
  const { user, database, engine } = asker
  // Class 1 is WITH … INSERT … SELECT, which begins like a SELECT and returns no rows.
  const classes = ({ kind }: Other) => (kind === 'select' ? [0, 1, 4] : undefined)
  const queryClass = await asker.classOf(statement.sql, classes(statement))
  const allowed = await engine.verdicts.assertAllowed(user, database, statement.sql, params)
  assertSameFormat(user, statement, allowed.format, format)
  if (statement.kind === 'kill') {
    // It becomes a SELECT with the same condition.
    const found = `SELECT 1 FROM system.processes WHERE ${statement.condition}`
    await engine.verdicts.assertAllowed(user, database, found, params)
    return { admitted: statement, queryClass }
  }
  const own = ownGrants(statement.sql, statement.format, accessName(user))
  const sql = replaceProcesses(own, () => processesOf(user, asker.registry))
  if (sql === statement.sql) return { admitted: statement, queryClass }
  const admitted = analyse(sql) as S
  await asker.classOf(admitted.sql, classes(admitted))
  return { admitted, queryClass }
}

/** Whether the rows of an INSERT may be expressions, which the engine evaluates: those in Values, if all are harmless. */
export async function mayEvaluateRows(
  { user, engine }: Pick<Asker, 'user' | 'engine'>,
  statement: Statement,
  rows: Rows | undefined,
): Promise<boolean> {
  const isValues = statement.kind === 'insert' && statement.format.toLowerCase() === 'values'
  if (!isValues || !rows?.isComplete || !mayHaveExpressions(rows.data)) return false
  return isOwner(user) || mayEvaluate(rows.data, await engine.verdicts.forbidden())
}
