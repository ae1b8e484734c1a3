import { join } from 'node:path'
import type { User } from '../access/users.js'
import { Verdicts } from '../judge/verdicts.js'
import { quoteName, quoteString, setStatement } from '../query/settings.js'
import { type Addon, type Classification, loadAddon } from './addon.js'
import { Connection, internalMark } from './connection.js'
import { Dictionaries } from './dictionaries.js'
import {
  accessName,
  type EngineOptions,
  evaluatingName,
  evaluationSettings,
  writeEngineConfig,
} from './engine-config.js'
import { EngineError } from './errors.js'
import { Killer } from './killer.js'
import { ProgressPoller } from './progress.js'

/**
 * Connections opened in advance for each recently used pair of user and database. Opening one takes about 1 ms. A pair
 * that was used once gets few of them, so that many alternating users do not cost eight connections per request.
 */
const spareConnections = 8
const spareKindsPerUser = 3
const cachedClassifications = 2_000

/** The engine of this process. There can be only one, on one directory. */
export class Engine {
  readonly version: string
  readonly timezone: string
  readonly #addon: Addon
  readonly #directory: string
  readonly #base: Connection
  readonly #killer: Killer
  readonly progress: ProgressPoller
  /** Judges what users other than the owner send. */
  readonly verdicts: Verdicts
  readonly #dictionaries: Dictionaries
  /** Keyed by user and database. */
  readonly #spares = new Map<string, Spares>()
  readonly #spareKinds: number
  readonly #contentTypes: ReadonlyMap<string, string>
  readonly #classifications = new Map<string, Classification>()
  #opened = 0
  #isClosed = false

  private constructor(addon: Addon, directory: string, base: Connection, facts: Facts) {
    this.#addon = addon
    this.#directory = directory
    this.#base = base
    this.version = facts.version
    this.timezone = facts.timezone
    this.#spareKinds = spareKindsPerUser * (facts.users + 1)
    this.#contentTypes = new Map(facts.contentTypes.map(([format, type]) => [format.toLowerCase(), type]))
    this.#killer = new Killer(this.connectInternally())
    this.progress = new ProgressPoller(this.connectInternally())
    this.verdicts = new Verdicts(this.connectInternally())
    this.#dictionaries = new Dictionaries(this.connectInternally())
  }

  /** Opens or creates the data in `dataDirectory`/engine. Throws if another process uses it. */
  static async open(dataDirectory: string, options: EngineOptions): Promise<Engine> {
    // The engine reads its time zone from TZ. With UTC, days and hours are the same on every machine.
    process.env.TZ = 'UTC'
    const addon = loadAddon()
    const directory = join(dataDirectory, 'engine')
    const configFile = writeEngineConfig(join(dataDirectory, 'config'), options)
    const base = new Connection(addon, directory, internalMark, [`--config-file=${configFile}`])
    const { bytes } = await base.run('SELECT version(), timezone()')
    const formats = await base.run('SELECT name, content_type FROM system.formats WHERE is_output')
    const [version = '', timezone = 'UTC'] = bytes.toString().trimEnd().split('\t')
    const contentTypes = formats.bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [string, string])
    const engine = new Engine(addon, directory, base, { version, timezone, contentTypes, users: options.users.length })
    await engine.#assertUsable(options.users)
    return engine
  }

  /** Connects as every user, because only the engine can check names and values of settings. */
  async #assertUsable(users: readonly User[]): Promise<void> {
    const tries = await Promise.allSettled(users.map((user) => this.#connect(user, 'default')))
    const problems = tries.flatMap((tried, i) =>
      tried.status === 'rejected' ? [`user ${users[i]?.name}: ${EngineError.from(tried.reason).message}`] : [],
    )
    await Promise.all(tries.map((tried) => (tried.status === 'fulfilled' ? tried.value.close() : undefined)))
    if (problems.length === 0) return
    await this.close()
    throw new Error(problems.join('; '))
  }

  /**
   * A marked connection with a user's rights and settings. The caller closes it. Rejects if there is no such database.
   */
  connect(user: User, database: string): Promise<Connection> {
    const kind = `${user.name}/${database}`
    const spare = this.#spares.get(kind)?.connections.shift()
    const connection = spare ?? this.#connect(user, database)
    // After the first connection succeeded, so that names of unknown databases are not kept.
    connection.then(
      () => setImmediate(() => this.#refill(kind, user, database)),
      () => this.#spares.delete(kind),
    )
    return connection
  }

  /** A connection for the gateway's own work, with all rights and hidden from clients. The caller closes it. */
  connectInternally(): Connection {
    return new Connection(this.#addon, this.#directory, internalMark)
  }

  /** A connection on which rows in the format Values may be expressions. Use it only for rows that were checked. */
  connectToEvaluate(user: User, database: string): Promise<Connection> {
    // A connection's arguments override the constraints that keep clients from changing these settings.
    const args = evaluationSettings.map((name) => `--${name}=1`)
    return this.#connect(user, database, evaluatingName(user), args)
  }

  /** How the engine's parser classifies a statement. Cached, because clients repeat statements. */
  async classify(sql: string): Promise<Classification> {
    const cached = this.#classifications.get(sql)
    if (cached) return cached
    const classification = await this.#base.classify(sql)
    if (this.#classifications.size >= cachedClassifications) this.#classifications.clear()
    if (sql.length < 10_000) this.#classifications.set(sql, classification)
    return classification
  }

  contentType(format: string): string {
    return this.#contentTypes.get(format.toLowerCase()) ?? 'text/plain; charset=UTF-8'
  }

  /** Stops the query on the connection with this mark. Resolves to false if none is running there (yet). */
  kill(mark: string): Promise<boolean> {
    return this.#killer.kill(mark)
  }

  /** Cancels running merges and mutations, so that closing does not wait for them. They restart with the engine. */
  async stopMerges(): Promise<void> {
    await this.#base.run('SYSTEM STOP MERGES').catch(() => undefined)
  }

  /** Closes the engine's own connections. All queries must have ended before. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const kind of this.#spares.keys()) await this.#closeSpares(kind)
    await this.progress.close()
    await this.verdicts.close()
    await this.#dictionaries.close()
    await this.#killer.close()
    await this.#base.close()
  }

  #refill(kind: string, user: User, database: string): void {
    if (this.#isClosed) return
    const spares = this.#spares.get(kind) ?? { wanted: 1, connections: [] }
    // Moves the pair to the end of the map, which is ordered by last use.
    this.#spares.delete(kind)
    this.#spares.set(kind, spares)
    const [oldest] = this.#spares.keys()
    if (this.#spares.size > this.#spareKinds && oldest !== undefined) void this.#closeSpares(oldest)
    while (spares.connections.length < spares.wanted) {
      const spare = this.#connect(user, database)
      spare.catch(() => undefined)
      spares.connections.push(spare)
    }
    spares.wanted = Math.min(spares.wanted * 2, spareConnections)
  }

  async #closeSpares(kind: string): Promise<void> {
    const spares = this.#spares.get(kind)?.connections ?? []
    this.#spares.delete(kind)
    for (const spare of await Promise.allSettled(spares)) if (spare.status === 'fulfilled') await spare.value.close()
  }

  async #connect(user: User, database: string, profile = accessName(user), args: string[] = []): Promise<Connection> {
    const connection = new Connection(this.#addon, this.#directory, `${user.name}/${++this.#opened}`, args)
    try {
      // Values come first: the constraints of the profile may forbid changing them.
      const set = setStatement(user.settings, 0)
      if (set !== '') connection.runNow(set)
      connection.runNow(`SET profile = ${quoteString(profile)}`)
      connection.runNow(`SET ROLE ${quoteName(accessName(user))}`)
      if (database !== 'default') connection.runNow(`USE ${quoteName(database)}`)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }
}

type Facts = { version: string; timezone: string; contentTypes: [string, string][]; users: number }
/** `wanted` doubles with every use. */
type Spares = { wanted: number; connections: Promise<Connection>[] }
