import { isPlainStructure, mayDeclareMore } from '../sql/structure.js'
import { argumentsOf, type Node, nameOf, stringOf } from '../sql/tree.js'
import { allowedInputFormats } from './allowed/formats.js'
import { allowedTableFunctions, structureArgument } from './allowed/table-functions.js'
import { assertNamed, type Case } from './case.js'

/** Table functions for users of every database: those of some could learn about others. */
const forAllDatabases = new Set(['viewexplain', 'dictionary'])

/** Throws unless a table function and its arguments are allowed. Calls `walk` for what stands in its brackets. */
export function assertTableFunction(one: Case, node: Node, walk: (child: Node) => void): 'judged' {
  const name = nameOf(node)
  const lower = name.toLowerCase()
  const parts = argumentsOf(node)
  if (!allowedTableFunctions.has(lower)) assertParameterizedView(one, name, parts)
  if (one.user.databases && forAllDatabases.has(lower)) throw one.refuse(`The table function ${name}`)
  if (lower === 'format') assertFormat(one, parts)
  else if (lower === 'merge') assertMerge(one, parts)
  assertStructure(one, lower, parts)
  for (const part of parts) walk(part)
  for (const child of node.children.slice(1)) walk(child)
  return 'judged'
}

/** A view with parameters is called like a table function: `view(name = value, …)`. */
function assertParameterizedView(one: Case, name: string, parts: readonly Node[]): void {
  const isAssigned = (part: Node) => {
    const [left] = argumentsOf(part)
    return part.kind === 'Function' && nameOf(part) === 'equals' && left?.kind === 'Identifier'
  }
  const isView = !one.known.tableFunctions.has(name.toLowerCase()) && parts.length > 0 && parts.every(isAssigned)
  if (!isView) throw one.refuse(`The table function ${name}`)
  assertNamed(one, name)
}

function assertFormat(one: Case, [format]: readonly Node[]): void {
  one.verdict.readsValues = true
  const name = format?.kind === 'Identifier' ? nameOf(format) : stringOf(format)
  if (name === undefined || !allowedInputFormats.has(name.toLowerCase())) {
    throw one.refuse(`The format ${name ?? 'that is computed'} in format()`)
  }
}

/** merge() must name its database: not system, whose tables need no grants, and one that the user may read. */
function assertMerge(one: Case, parts: readonly Node[]): void {
  one.verdict.readsValues = true
  const [first] = parts
  const name = first?.kind === 'Identifier' ? nameOf(first) : stringOf(first)
  const database = parts.length === 1 ? one.database : name
  const isOwn = database !== undefined && (one.user.databases?.includes(database) ?? database !== 'system')
  if (!isOwn) throw one.refuse('merge() of another database')
}

function assertStructure(one: Case, lower: string, parts: readonly Node[]): void {
  const at = structureArgument[lower]
  const isWithStructure = at !== undefined && parts.length > at && !(lower === 'format' && parts.length < 3)
  if (!isWithStructure) return
  one.verdict.readsValues = true
  const part = parts[at]
  const structure = stringOf(part)
  if (structure === undefined) {
    // A first argument that is not a string is a row of values(), or the seed of generateRandom().
    const isRow = lower === 'values' && part?.kind !== 'Identifier'
    const isSeed = lower === 'generaterandom' && part?.kind === 'Literal'
    if (!isRow && !isSeed) throw one.refuse(`A computed structure in ${lower}()`)
    return
  }
  const isValue = lower === 'values' && !mayDeclareMore(structure)
  if (!isValue && !isPlainStructure(structure)) {
    throw one.refuse(`A structure with more than names and types in ${lower}()`)
  }
}
