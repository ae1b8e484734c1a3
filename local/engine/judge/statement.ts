import { type Node, nameOf } from '../sql/tree.js'
import { allowedOutputFormats } from './allowed/formats.js'
import type { Case } from './case.js'

/** Kinds of statements that users other than the owner may run, under their grants. All others are refused. */
const kinds: Readonly<Record<string, (one: Case) => void>> = {
  SelectWithUnionQuery: assertSelect,
  Explain: assertExplain,
  Set: () => undefined,
  UseQuery: () => undefined,
  InsertQuery: () => undefined,
  CreateQuery: assertCreate,
  AttachQuery: assertAttach,
  DetachQuery: () => undefined,
  DropQuery: () => undefined,
  TruncateQuery: () => undefined,
  Rename: () => undefined,
  AlterQuery: assertAlter,
  OptimizeQuery: () => undefined,
  DeleteQuery: () => undefined,
  UpdateQuery: () => undefined,
  CheckQuery: assertCheck,
  KillQueryQuery: assertKill,
  'SYSTEM query': assertSystem,
  DescribeQuery: () => undefined,
  ExistsTableQuery: () => undefined,
  ExistsViewQuery: () => undefined,
  ExistsDatabaseQuery: () => undefined,
  ExistsDictionaryQuery: () => undefined,
  ShowCreateTableQuery: () => undefined,
  ShowCreateViewQuery: () => undefined,
  ShowCreateDatabaseQuery: () => undefined,
  ShowCreateDictionaryQuery: () => undefined,
  ShowTables: assertShow,
  ShowColumns: assertShow,
  ShowIndexes: assertShow,
  ShowFunctions: assertShow,
  ShowSetting: () => undefined,
  ShowEngineQuery: () => undefined,
  ShowProcesslistQuery: () => undefined,
  ShowGrantsQuery: () => undefined,
}

/** Throws unless a statement is of a kind that is allowed, and has nothing that the printed tree leaves out. */
export function assertStatement(one: Case): void {
  const { tree, canonical } = one
  const assertKind = Object.hasOwn(kinds, tree.kind) ? kinds[tree.kind] : undefined
  if (!assertKind) throw one.refuse(`The statement ${tree.kind.replace(/Query$/, '')}`)
  if (canonical.has('INTO', 'OUTFILE')) throw one.refuse('INTO OUTFILE')
  if (canonical.tokens.some(({ kind }, at) => kind === 'string' && canonical.isAt(at - 2, 'FROM', 'INFILE'))) {
    throw one.refuse('FROM INFILE')
  }
  if (canonical.has('ON', 'CLUSTER')) throw one.refuse('ON CLUSTER')
  if (tree.kind !== 'SelectWithUnionQuery' && tree.kind !== 'InsertQuery') assertFormat(one)
  assertKind(one)
}

/** The tree does not tell formats of other statements from names. */
function assertFormat(one: Case): void {
  const { canonical } = one
  const at = canonical.tokens.findLastIndex((_, i) => canonical.isAt(i, 'FORMAT'))
  const format = at < 0 ? undefined : canonical.name(at + 1)
  if (format !== undefined && !allowedOutputFormats.has(format.toLowerCase())) throw one.refuse(`The format ${format}`)
}

/** The lists of settings that belong to the whole statement. The engine checks the user's constraints on these only. */
export function settingsAtTop(tree: Node): Set<Node> {
  const found = new Set<Node>()
  const take = (node: Node | undefined) => {
    for (const child of node?.children ?? []) if (child.kind === 'Set') found.add(child)
  }
  if (tree.kind === 'Set') found.add(tree)
  take(tree)
  const query = tree.kind === 'InsertQuery' ? tree.children.find(({ kind }) => kind === 'SelectWithUnionQuery') : tree
  if (query?.kind === 'SelectWithUnionQuery') {
    take(query)
    // As in the engine, the settings of the last SELECT of a union are those of the statement.
    const last = query.children[0]?.children.at(-1)
    if (last?.kind === 'SelectQuery') take(last)
  }
  if (tree.kind === 'CreateQuery' || tree.kind === 'AlterQuery') {
    const definitions = new Set(['Storage definition', 'ColumnDeclaration', 'AlterCommand'])
    const passes = new Set([...definitions, 'Columns definition', 'ExpressionList'])
    const visit = (node: Node) => {
      if (definitions.has(node.kind)) take(node)
      for (const child of node.children) if (passes.has(child.kind)) visit(child)
    }
    visit(tree)
  }
  return found
}

function assertSelect(one: Case): void {
  if (one.tree.children.some(({ kind }) => kind === 'Literal')) throw one.refuse('INTO OUTFILE')
  const format = one.tree.children.find(({ kind }) => kind === 'Identifier')
  one.verdict.format = format && nameOf(format)
}

const explanations = new Set(['EXPLAIN', 'EXPLAIN AST', 'EXPLAIN PIPELINE', 'EXPLAIN ESTIMATE'])
const explanationsOfAll = new Set(['EXPLAIN SYNTAX', 'EXPLAIN QUERY TREE'])

/** The engine explains columns of tables that the user may not read, so users of some databases have fewer kinds. */
function assertExplain(one: Case): void {
  const { text, children } = one.tree
  const isAllowed = explanations.has(text) || (explanationsOfAll.has(text) && !one.user.databases)
  if (!isAllowed) throw one.refuse(text)
  const explained = children.filter(({ kind }) => kind !== 'Set' && kind !== 'Identifier')
  if (explained.length !== 1 || explained[0]?.kind !== 'SelectWithUnionQuery') {
    throw one.refuse('EXPLAIN of anything but a SELECT')
  }
}

/** Words that may follow the name of a new table. UUID, FROM, TO, ON and others are not among them. */
const afterName = new Set(['(', 'ENGINE', 'ORDER', 'PARTITION', 'PRIMARY', 'SETTINGS', 'TTL', 'COMMENT', 'AS', 'CLONE'])

/** A table from its own columns or from a SELECT. Not views, dictionaries and databases, and nothing by path or UUID. */
function assertCreate(one: Case): void {
  const { canonical } = one
  let at = ['CREATE', 'REPLACE'].some((verb) => canonical.isAt(0, verb)) ? 1 : 0
  if (canonical.isAt(at, 'OR', 'REPLACE')) at += 2
  if (canonical.isAt(at, 'TEMPORARY')) at++
  if (at === 0 || !canonical.isAt(at, 'TABLE')) throw one.refuse('CREATE of anything but a table')
  at++
  if (canonical.isAt(at, 'IF', 'NOT', 'EXISTS')) at += 3
  const path = canonical.path(at)
  const next = path && canonical.word(path.end)
  if (!path || next === undefined || !afterName.has(next)) throw one.refuse(`CREATE TABLE … ${next ?? ''}`.trim())
  assertTtl(one)
  for (const i of canonical.tokens.keys()) {
    // CREATE TABLE a AS b and CREATE TABLE a CLONE AS b, not AS SELECT.
    if (i < path.end || !canonical.isAt(i, 'AS')) continue
    const source = canonical.path(i + 1)
    if (source?.database !== undefined) assertOwn(one, source.database)
  }
}

/** The tree leaves out the expressions of `TTL … GROUP BY … SET`. */
function assertTtl({ canonical, refuse }: Case): void {
  if (canonical.has('TTL') && canonical.has('SET')) throw refuse('TTL … SET')
}

/** `ATTACH TABLE name` puts a table back that was detached. A path, a UUID or a definition would take another's files. */
function assertAttach(one: Case): void {
  const { canonical } = one
  const at = canonical.isAt(2, 'IF', 'NOT', 'EXISTS') ? 5 : 2
  const path = canonical.isAt(0, 'ATTACH', 'TABLE') ? canonical.path(at) : undefined
  if (path?.end !== canonical.tokens.length) throw one.refuse('ATTACH of anything but a detached table by its name')
}

/** The tree leaves out the other table of ATTACH, REPLACE and MOVE PARTITION. */
function assertAlter(one: Case): void {
  const { canonical } = one
  assertTtl(one)
  for (const at of canonical.tokens.keys()) {
    const isOther = canonical.isAt(at, 'FROM') || canonical.isAt(at, 'TO', 'TABLE')
    const other = isOther ? canonical.path(canonical.isAt(at, 'FROM') ? at + 1 : at + 2) : undefined
    if (other?.database !== undefined) assertOwn(one, other.database)
  }
}

function assertOwn(one: Case, database: string): void {
  const { databases } = one.user
  if (databases && !databases.includes(database)) throw one.refuse(`The database ${database}`)
}

function assertKill(one: Case): void {
  if (!one.canonical.isAt(0, 'KILL', 'QUERY') && !one.canonical.isAt(0, 'KILL', 'MUTATION')) {
    throw one.refuse('KILL of anything but queries and mutations')
  }
}

/** The tree leaves out the partition of CHECK, which the engine computes, so it is judged as part of a SELECT. */
function assertCheck(one: Case): void {
  const { canonical } = one
  const at = canonical.tokens.findIndex((_, i) => canonical.isAt(i, 'PARTITION'))
  if (at < 0) return
  const from = canonical.tokens[canonical.isAt(at + 1, 'ID') ? at + 2 : at + 1]
  one.verdict.also = `SELECT ${canonical.text.slice(from?.start)}`
}

/** SYSTEM statements about one table or view, under its grants, and FLUSH LOGS. */
const systemStatements = [
  /^SYSTEM FLUSH LOGS/,
  /^SYSTEM (REFRESH|START|STOP|WAIT|CANCEL|PAUSE) VIEW /,
  /^SYSTEM (START|STOP) (TTL MERGES|MERGES|MOVES|CLEANUP) /,
  /^SYSTEM SYNC REPLICA /,
  /^SYSTEM WAIT LOADING PARTS /,
  /^SYSTEM (LOAD|UNLOAD) PRIMARY KEY /,
]

function assertSystem(one: Case): void {
  const { text } = one.canonical
  if (!systemStatements.some((allowed) => allowed.test(text))) {
    throw one.refuse(text.split(' ').slice(0, 3).join(' '))
  }
}

/** The tree leaves out the conditions of SHOW, so they are judged as those of a SELECT. */
function assertShow(one: Case): void {
  const { canonical } = one
  const at = canonical.tokens.findIndex((_, i) => canonical.isAt(i, 'WHERE') || canonical.isAt(i, 'LIMIT'))
  if (at >= 0) one.verdict.also = `SELECT 1 ${canonical.text.slice(canonical.tokens[at]?.start)}`
}
