import { badRequest, withoutClause } from '../engine/errors.js'
import { tokenize } from '../sql/lexer.js'
import { assertAllowed, assertReadable } from '../sql/policy.js'
import type { RunningQuery } from './running-query.js'
import { quoteName, quoteString } from './settings.js'

/** A table that is sent with a request and exists only for it. Its rows are in the file `path`. */
export type ExternalTable = { name: string; structure: string; format: string; path: string }

/** The columns of a table, from `name Type, …` or from types only, whose columns are named _1, _2, … */
export function structureOf(name: string, structure: string | undefined, types: string | undefined): string {
  if (structure !== undefined) return structure
  if (types !== undefined) {
    return listItems(types)
      .map((type, i) => `_${i + 1} ${type}`)
      .join(', ')
  }
  const fields = `Use fields ${name}_structure or ${name}_types to do so`
  throw badRequest(`Neither structure nor types have not been provided for external table ${name}. ${fields}`)
}

/** Splits a list at its commas, except those in brackets. */
function listItems(list: string): string[] {
  const items: string[] = []
  let depth = 0
  let start = 0
  for (const token of tokenize(list)) {
    const c = token.kind === 'symbol' ? list[token.start] : ''
    if (c === '(') depth++
    if (c === ')') depth--
    if (c !== ',' || depth > 0) continue
    items.push(list.slice(start, token.start))
    start = token.end
  }
  return [...items, list.slice(start)]
}

/** Creates an empty temporary table. The columns are passed as a string, so that they cannot be any other SQL. */
export async function createTemporary(
  query: RunningQuery,
  name: string,
  structure: string,
  engine: string,
): Promise<void> {
  assertAllowed(structure, tokenize(structure))
  const columns = `null(${quoteString(structure)})`
  await query.run(`CREATE TEMPORARY TABLE ${quoteName(name)} ENGINE = ${engine} AS SELECT * FROM ${columns}`)
}

export const dropTemporary = (query: RunningQuery, name: string) =>
  query.run(`DROP TEMPORARY TABLE IF EXISTS ${quoteName(name)}`)

/**
 * Creates and fills the tables on the connection of `query`, in memory as on a server. Appends each created name to
 * `made`, so that the caller can drop them after an error.
 */
export async function loadTables(query: RunningQuery, tables: readonly ExternalTable[], made: string[]): Promise<void> {
  for (const { name, structure, format, path } of tables) {
    assertReadable(format)
    await createTemporary(query, name, structure, 'Memory')
    made.push(name)
    const input = ` FROM INFILE ${quoteString(path)} COMPRESSION 'none' `
    try {
      await query.run(`INSERT INTO ${quoteName(name)}${input}FORMAT ${quoteName(format)}`)
    } catch (error) {
      throw withoutClause(error, input, path)
    }
  }
}
