import type { User } from '../access/users.js'
import { accessDenied, unknownSetting } from '../engine/errors.js'
import type { Canonical } from '../sql/canonical.js'
import { aliasOf, argumentsOf, type Node, nameOf, stringOf } from '../sql/tree.js'
import { allowedAggregates, combinators } from './allowed/aggregates.js'
import { allowedOutputFormats } from './allowed/formats.js'
import { allowedFunctions, reasonAgainst } from './allowed/functions.js'
import { allowedSettings, allowedTableSettings } from './allowed/settings.js'
import { allowedTableFunctions } from './allowed/table-functions.js'
import { allowedAlterations, allowedCodecs, allowedEngines, allowedIndexes } from './allowed/tables.js'
import { assertNamed, type Case, type Known, type Parsed, type Verdict } from './case.js'
import { assertStatement, settingsAtTop } from './statement.js'
import { assertTableFunction } from './table-function.js'

/**
 * Judges a statement of a user who is not an owner of every database. Throws ClickHouse's error 497 for whatever is not
 * on the lists in `allowed/`: kinds of statements and nodes, functions, table functions, engines, settings, formats. A
 * user of some databases may not name others.
 */
export function judge(user: User, database: string, parsed: Parsed, known: Known): Verdict {
  const verdict: Verdict = { readsValues: false, also: undefined, format: undefined }
  const lambdas = new Set<string>()
  collectLambdas(parsed.tree, lambdas)
  const one: Case = { ...parsed, user, database, known, lambdas, verdict, refuse: refusalOf(user) }
  assertStatement(one)
  assertSettings(one)
  walk(one, parsed.tree, [])
  assertApplied(one)
  assertCalls(one)
  return verdict
}

/**
 * Throws for what the engine would apply even to the explanation of a statement: settings that are not on the lists, and
 * file clauses.
 */
export function assertExplainable(user: User, canonical: Canonical, known: Known): void {
  const refuse = refusalOf(user)
  if (canonical.has('INTO', 'OUTFILE')) throw refuse('INTO OUTFILE')
  for (const name of canonical.settings()) {
    if (allowedSettings.has(name) || allowedTableSettings.has(name)) continue
    if (!known.settings.has(name) && !known.tableSettings.has(name) && name !== 'profile') throw unknownSetting(name)
    throw refuse(`The setting ${name}`)
  }
}

const refusalOf = (user: User) => (what: string) =>
  accessDenied(`${user.name}: Not enough privileges. ${what} is only allowed to owners of every database`)

function collectLambdas(node: Node, names: Set<string>): void {
  if (node.kind === 'Function' && nameOf(node) === 'lambda') {
    const alias = aliasOf(node)
    if (alias !== undefined) names.add(alias)
  }
  for (const child of node.children) collectLambdas(child, names)
}

/** Accepts settings at the top level only, and only those on the lists. */
function assertSettings(one: Case): void {
  const atTop = settingsAtTop(one.tree)
  const visit = (node: Node) => {
    if (node.kind === 'Set' && !atTop.has(node)) throw one.refuse('A setting below the top level of a statement')
    for (const child of node.children) visit(child)
  }
  visit(one.tree)
  const names = one.canonical.settings()
  const isExplain = one.tree.kind === 'Explain'
  if (atTop.size > 0 && names.length === 0 && !isExplain) throw one.refuse('This list of settings')
  const isDefinition = one.tree.kind === 'CreateQuery' || one.tree.kind === 'AlterQuery'
  for (const name of names) {
    if (!allowedSettings.has(name) && !(isDefinition && allowedTableSettings.has(name))) {
      throw one.refuse(`The setting ${name}`)
    }
  }
}

/** Throws for a call that the printed tree leaves out, of a function that is not on the lists. */
function assertCalls(one: Case): void {
  const { canonical, known } = one
  for (const at of canonical.tokens.keys()) {
    const name = canonical.word(at + 1) === '(' ? canonical.name(at) : undefined
    const lower = name?.toLowerCase() ?? ''
    const isCall = known.functions.has(lower) || known.tableFunctions.has(lower)
    if (isCall && !isAllowedFunction(lower) && !allowedTableFunctions.has(lower)) {
      throw one.refuse(`The function ${name}${reasonAgainst(lower)}`)
    }
  }
}

/** Kinds of nodes that have no name of their own to check: what they contain is checked below them. */
const structural = new Set(
  `ExpressionList SelectWithUnionQuery SelectQuery SelectIntersectExceptQuery ProjectionSelectQuery Subquery WithElement
  TablesInSelectQuery TablesInSelectQueryElement TableExpression TableJoin ArrayJoin SampleRatio
  OrderByElement StorageOrderByElement InterpolateElement WindowDefinition WindowListElement
  Asterisk QualifiedAsterisk ColumnsRegexpMatcher ColumnsListMatcher QualifiedColumnsRegexpMatcher
  QualifiedColumnsListMatcher ColumnsTransformerList ColumnsExceptTransformer ColumnsReplaceTransformer
  ColumnsReplaceTransformer::Replacement ColumnsApplyTransformer
  Set DataType ObjectTypeArgument NameTypePair TTLElement Partition Assignment ColumnDeclaration Index Projection
  Constraint`.split(/\s+/),
)
  .add('Columns definition')
  .add('Storage definition')

/** Throws for anything below `node` that is not allowed. `above` are its ancestors, the nearest last. */
function walk(one: Case, node: Node, above: readonly Node[]): void {
  const isRoot = above.length === 0
  if (node.kind === 'Function') {
    if (assertFunction(one, node, above) === 'judged') return
  } else if (node.kind === 'Identifier') assertIdentifier(one, node, above)
  else if (node.kind === 'TableIdentifier') assertNamed(one, nameOf(node))
  else if (node.kind === 'AlterCommand') {
    if (!allowedAlterations.has(node.text)) throw one.refuse(`ALTER … ${node.text.replaceAll('_', ' ')}`)
  } else if (!isRoot && node.kind !== 'Literal' && !structural.has(node.kind)) {
    throw one.refuse(`${node.kind} in a statement`)
  }
  if (node.kind === 'Subquery') assertRunsNow(one, 'A subquery', above)
  const isName = node.kind === 'Identifier' || node.kind === 'TableIdentifier' || node.kind === 'Literal'
  if (isName && node.children.length > 0) throw one.refuse('A name with a line break')
  for (const child of node.children) walk(one, child, [...above, node])
}

/** Checks a Function node by where it stands. Returns `judged` if nothing below it remains to be checked. */
function assertFunction(one: Case, node: Node, above: readonly Node[]): 'judged' | undefined {
  const parent = above.at(-1)
  const name = nameOf(node)
  if (parent?.kind === 'TableExpression' || parent?.kind === 'CreateQuery') {
    return assertTableFunction(one, node, (child) => walk(one, child, [...above, node]))
  }
  if (parent?.kind === 'InsertQuery') throw one.refuse('INSERT INTO FUNCTION')
  if (parent?.kind === 'Storage definition' && allowedEngines.has(name)) return undefined
  if (parent?.kind === 'Index' && parent.children.at(-1) === node && allowedIndexes.has(name)) return undefined
  if (parent?.kind === 'ColumnDeclaration' && name === 'CODEC') {
    assertCodec(one, node)
    return 'judged'
  }
  const isEngine = parent?.kind === 'Storage definition' && !one.known.functions.has(name.toLowerCase())
  if (isEngine) throw one.refuse(`The engine ${name}`)
  if (!isAllowedFunction(name) && !(one.lambdas.has(name) && !one.known.functions.has(name.toLowerCase()))) {
    throw one.refuse(`The function ${name}${reasonAgainst(name)}`)
  }
  assertArguments(one, name.toLowerCase(), node)
  if (isIn.test(name.toLowerCase()) && argumentsOf(node)[1]?.kind === 'Identifier') {
    assertRunsNow(one, 'IN with the name of a table', above)
  }
  return undefined
}

/** What the engine runs later and with all rights: in mutations, merges and inserts of others. */
const runsLater: Readonly<Record<string, string>> = {
  Assignment: 'UPDATE',
  TTLElement: 'TTL',
  ColumnDeclaration: 'the definition of a column',
  Index: 'an index',
  Projection: 'a projection',
  Constraint: 'a constraint',
  'Storage definition': 'the definition of a table',
}

/** A view of the user's database may read other databases: only with the rights of who reads it. */
function assertRunsNow(one: Case, what: string, above: readonly Node[]): void {
  const place = above.map(({ kind }) => runsLater[kind]).find((found) => found !== undefined)
  if (one.user.databases && place !== undefined) throw one.refuse(`${what} in ${place}`)
}

function assertCodec(one: Case, node: Node): void {
  for (const child of argumentsOf(node)) {
    const name = nameOf(child)
    const isKnown = child.kind === 'Function' && allowedCodecs.has(name.toLowerCase())
    if (!isKnown || argumentsOf(child).some(({ kind }) => kind !== 'Literal')) throw one.refuse(`The codec ${name}`)
  }
}

/** Whether users other than the owner may call a function: it is on the list, or an aggregate with combinators. */
export function isAllowedFunction(name: string): boolean {
  const lower = name.toLowerCase()
  return allowedFunctions.has(lower) || isAggregate(lower)
}

const isAggregate = (name: string): boolean =>
  allowedAggregates.has(name) ||
  combinators.some((end) => name.endsWith(end) && name !== end && isAggregate(name.slice(0, -end.length)))

/** Functions that read a table or a dictionary by its name, which is the first argument. */
const readsByName = /^(dict(get|has|isin)|joinget)/
/** Functions that take the name of an aggregate function as text. */
const aggregatesByName = /^(arrayreduce(inranges)?|initializeaggregation)$/
const isIn = /^(global)?(not)?(null)?in(ignoreset)?$/

/** Whether a function, in lower case, takes the name of a format, of a function or of a table, which may be computed. */
export const takesName = (name: string): boolean =>
  name.startsWith('formatrow') || aggregatesByName.test(name) || readsByName.test(name)

/** Checks arguments that name a format, a function, a table or a dictionary. */
function assertArguments(one: Case, name: string, node: Node): void {
  const [first, second] = argumentsOf(node)
  if (name.startsWith('formatrow')) {
    const format = stringOf(first)
    one.verdict.readsValues = true
    if (format === undefined || !allowedOutputFormats.has(format.toLowerCase())) {
      throw one.refuse(`The format ${format ?? 'that is computed'}`)
    }
  }
  if (aggregatesByName.test(name)) {
    one.verdict.readsValues = true
    const aggregate = /^\w+/.exec(stringOf(first) ?? '')?.[0]
    if (aggregate === undefined || !isAggregate(aggregate.toLowerCase())) {
      throw one.refuse(`The aggregate function ${aggregate ?? 'that is computed'}`)
    }
  }
  if (isIn.test(name) && second?.kind === 'Identifier') assertSet(one, nameOf(second))
  if (one.user.databases && readsByName.test(name)) {
    one.verdict.readsValues = true
    const read = first?.kind === 'Identifier' ? nameOf(first) : stringOf(first)
    if (read === undefined) throw one.refuse(`A computed name of a dictionary or table in ${name}`)
    assertNamed(one, read)
    // Without a database, the name is one of the current database, or an alias.
    const isOwn = read.includes('.') || (first?.kind === 'Literal' && one.user.databases.includes(one.database))
    if (keepsExpressions.has(one.tree.kind) && !isOwn) throw one.refuse(`${read} without its database in ${name}`)
  }
}

/** Statements with expressions that the engine runs later, and then with all rights. */
const keepsExpressions = new Set(['CreateQuery', 'AlterQuery', 'UpdateQuery', 'DeleteQuery'])

/**
 * `x IN name`: the engine checks no grants on a table with the engine Set. The name may also be that of a WITH, or an alias;
 * but whether it is one depends on where it is defined, so it is refused wherever it could be a table of others.
 */
function assertSet(one: Case, name: string): void {
  assertNamed(one, name)
  const { databases } = one.user
  if (!databases || name.includes('.') || databases.includes(one.database)) return
  throw one.refuse(`The table ${name} of the database ${one.database}`)
}

/**
 * A name can stand for a function that is passed to another: `arrayMap(file, …)`. So a name among arguments must not be
 * that of a function of the engine that is not allowed.
 */
function assertIdentifier(one: Case, node: Node, above: readonly Node[]): void {
  const isArgument = above.at(-1)?.kind === 'ExpressionList' && above.at(-2)?.kind === 'Function'
  if (!isArgument) return
  const name = nameOf(node).toLowerCase()
  if (one.known.functions.has(name) && !isAllowedFunction(name))
    throw one.refuse(`The function ${nameOf(node)}${reasonAgainst(name)}`)
}

/** Checks functions in APPLY, which the printed tree leaves out: only names of functions, with literal parameters. */
function assertApplied(one: Case): void {
  const { canonical } = one
  let left = count(one.tree, 'ColumnsApplyTransformer')
  if (left === 0) return
  for (const at of canonical.tokens.keys()) {
    if (!canonical.isAt(at, 'APPLY')) continue
    const name = canonical.name(at + 1)
    const isName = name !== undefined && canonical.word(at + 2) !== '-' && canonical.word(at + 2) !== '.'
    if (!isName || !isAllowedFunction(name)) throw one.refuse('APPLY of anything but the name of a plain function')
    left--
    if (canonical.word(at + 2) !== '(') continue
    const parameter = canonical.tokens[at + 3]
    const isLiteral = parameter?.kind === 'number' || parameter?.kind === 'string'
    if (!isLiteral || canonical.word(at + 4) !== ')') throw one.refuse('APPLY with parameters that are not one literal')
  }
  if (left > 0) throw one.refuse('This APPLY')
}

const count = (node: Node, kind: string): number =>
  node.children.reduce((sum, child) => sum + count(child, kind), node.kind === kind ? 1 : 0)
