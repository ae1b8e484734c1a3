import { LRUCache } from 'lru-cache'
import { isOwner, type User } from '../access/users.js'
import type { Connection } from '../engine/connection.js'
import { ACCESS_DENIED, accessDenied, EngineError } from '../engine/errors.js'
import { quoteString } from '../query/settings.js'
import { Canonical } from '../sql/canonical.js'
import { parseTree } from '../sql/tree.js'
import type { Known, Verdict } from './case.js'
import { assertExplainable, isAllowedFunction, judge, takesName } from './judge.js'

const cachedVerdicts = 4_000
/** Longer texts are judged each time, so that the cache stays small. */
const cachedCharacters = 10_000

/** What a statement may do, and which format it names; or why it is refused. */
type Outcome = { refusal: EngineError | undefined; format: string | undefined; readsValues: boolean }

/**
 * Judges statements of users by the engine's own syntax tree. A verdict is kept by text, user and database, and by the
 * values of parameters if it depends on them.
 */
export class Verdicts {
  readonly #connection: Connection
  readonly #known: Promise<Known>
  readonly #outcomes = new LRUCache<string, Outcome>({ max: cachedVerdicts })
  /** A connection runs one statement at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection) {
    this.#connection = connection
    this.#known = knownOf(connection)
    this.#known.catch(() => undefined)
    this.#last = this.#known.catch(() => undefined)
  }

  /**
   * Throws ClickHouse's error for a statement that the user may not run, and for one that the engine cannot parse.
   * Returns the format that a SELECT names. Owners of every database may run anything.
   */
  async assertAllowed(user: User, database: string, sql: string, params: Record<string, string>): Promise<Outcome> {
    if (isOwner(user)) return { refusal: undefined, format: undefined, readsValues: false }
    const key = JSON.stringify([user.name, database, sql])
    const keyOfValues = `${key}${JSON.stringify(params)}`
    const known = this.#outcomes.get(key) ?? this.#outcomes.get(keyOfValues)
    const outcome = known ?? (await this.#judge(user, database, sql, params))
    if (known === undefined && sql.length <= cachedCharacters) {
      this.#outcomes.set(outcome.readsValues ? keyOfValues : key, outcome)
    }
    if (outcome.refusal) throw outcome.refusal
    return outcome
  }

  /**
   * Tells of a word whether it is a function of the engine that users other than the owner may not call, or not with any
   * argument.
   */
  async forbidden(): Promise<(word: string) => boolean> {
    const { functions } = await this.#known
    return (word) => functions.has(word.toLowerCase()) && (!isAllowedFunction(word) || takesName(word.toLowerCase()))
  }

  /** The server's own value of a setting; undefined if there is no such setting. */
  async serverValue(name: string): Promise<string | undefined> {
    return (await this.#known).settings.get(name)
  }

  async close(): Promise<void> {
    await this.#last
    await this.#connection.close()
  }

  async #judge(user: User, database: string, sql: string, params: Record<string, string>): Promise<Outcome> {
    // A name in a parameter becomes part of the statement. The engine compares the type with this word as it is written.
    const hasParams = Object.keys(params).length > 0
    const readsNames = hasParams && /identifier/i.test(sql)
    try {
      const { readsValues, also, format } = await this.#verdict(user, database, sql, params)
      if (also !== undefined) await this.#verdict(user, database, also, params)
      return {
        refusal: undefined,
        format,
        readsValues: readsNames || (hasParams && (readsValues || also !== undefined)),
      }
    } catch (error) {
      const refusal = EngineError.from(error)
      // Other errors are the engine's and may not come again, such as when a parameter is missing or the memory is full.
      if (refusal.code !== ACCESS_DENIED) throw refusal
      // Which values were read before the refusal is unknown.
      return { refusal, format: undefined, readsValues: hasParams }
    }
  }

  /** Looks at settings and file clauses in the formatted text first: the engine applies them to its explanation too. */
  async #verdict(user: User, database: string, sql: string, params: Record<string, string>): Promise<Verdict> {
    const formatted = this.#run(`SELECT formatQuerySingleLine(${quoteString(sql)})`)
    const canonical = new Canonical(await formatted.catch((error) => Promise.reject(withoutScope(error))))
    const known = await this.#known
    assertExplainable(user, canonical, known)
    const explained = await this.#run(`EXPLAIN AST ${sql}`, params).catch((error) => Promise.reject(asOfRequest(error)))
    // The statement's own settings can end lines otherwise.
    const tree = parseTree(explained.replace(/\r(\n|$)/g, '$1'))
    if (!tree) throw accessDenied(`${user.name}: Not enough privileges. A name with a line break is not allowed`)
    return judge(user, database, { tree, canonical }, known)
  }

  #run(sql: string, params?: Record<string, string>): Promise<string> {
    const run = this.#last.then(() => this.#connection.run(sql, 'TSVRaw', params))
    this.#last = run.catch(() => undefined)
    return run.then(({ bytes }) => bytes.toString().replace(/\n$/, ''))
  }
}

/** The names of all functions and table functions of this engine. */
async function knownOf(connection: Connection): Promise<Known> {
  const rows = async (sql: string): Promise<[string, string][]> => {
    const { bytes } = await connection.run(sql, 'JSONCompactEachRow')
    return bytes
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  const names = async (table: string, where = '1') =>
    new Set((await rows(`SELECT lower(name), '' FROM system.${table} WHERE ${where}`)).map(([name]) => name))
  return {
    functions: await names('functions'),
    tableFunctions: await names('table_functions'),
    systemTables: await names('tables', "database = 'system'"),
    settings: new Map(await rows('SELECT lower(name), default FROM system.settings')),
    tableSettings: await names('merge_tree_settings'),
  }
}

/** The parser's error without the statement in which the text was formatted. */
function withoutScope(error: unknown): EngineError {
  const { code, message } = EngineError.from(error)
  return new EngineError(code, message.replace(/: In scope SELECT formatQuerySingleLine\('[\s\S]*'\)(?=\. \()/, ''))
}

/** The limits of a statement's result hold for its syntax tree as well, which may be longer. */
function asOfRequest(error: unknown): EngineError {
  const { code, message } = EngineError.from(error)
  if (code !== 396) return new EngineError(code, message)
  const text =
    'max_result_rows and max_result_bytes are too small for this statement. Send them with the request instead'
  return EngineError.of(code, 'TOO_MANY_ROWS_OR_BYTES', text)
}
