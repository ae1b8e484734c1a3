import { join } from 'node:path'
import { quoteName, quoteString } from '../query/settings.js'
import { type Addon, type Classification, loadAddon } from './addon.js'
import { Connection, markSetting } from './connection.js'
import { writeEngineConfig } from './engine-config.js'
import { Killer } from './killer.js'

/** Connections opened ahead of need, for each of the databases asked for last. Opening one takes about 0.3 ms. */
const spareConnections = 8
const spareDatabases = 4
const cachedClassifications = 2_000

/** Arguments of a connection stand above the constraints that keep clients from setting these. */
const evaluate = [
  '--input_format_values_interpret_expressions=1',
  '--input_format_values_deduce_templates_of_expressions=1',
]

/** The one engine of this process, on one directory. */
export class Engine {
  readonly version: string
  readonly timezone: string
  readonly #addon: Addon
  readonly #directory: string
  readonly #base: Connection
  readonly #killer: Killer
  readonly #spares = new Map<string, Promise<Connection>[]>()
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
    this.#contentTypes = new Map(facts.contentTypes)
    this.#killer = new Killer(new Connection(addon, directory, [], 'kill'))
    this.#refill('default')
  }

  /** Opens or creates the data in `dataDirectory`/engine. Throws when another process has it. */
  static async open(dataDirectory: string): Promise<Engine> {
    // The engine takes its time zone from here. One zone on every machine keeps days and hours the same.
    process.env.TZ = 'UTC'
    const addon = loadAddon()
    const directory = join(dataDirectory, 'engine')
    const configFile = writeEngineConfig(join(dataDirectory, 'config'))
    const base = new Connection(addon, directory, [`--config-file=${configFile}`], 'base')
    const { bytes } = await base.run('SELECT version(), timezone()')
    const formats = await base.run('SELECT name, content_type FROM system.formats WHERE is_output')
    const [version = '', timezone = 'UTC'] = bytes.toString().trimEnd().split('\t')
    const contentTypes = formats.bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [string, string])
    return new Engine(addon, directory, base, { version, timezone, contentTypes })
  }

  /** A marked connection with nothing set but its database. The caller closes it. Rejects for an unknown database. */
  connect(database: string): Promise<Connection> {
    const spare = this.#spares.get(database)?.shift()
    const connection = spare ?? this.#connect(database)
    // Behind the first use, so that a name that no database has is not kept.
    connection.then(
      () => setImmediate(() => this.#refill(database)),
      () => this.#spares.delete(database),
    )
    return connection
  }

  /** A connection on which the rows of an INSERT in the format Values may be expressions. Only for rows that were checked. */
  connectToEvaluate(database: string): Promise<Connection> {
    return this.#connect(database, evaluate)
  }

  /** The engine's own view of a statement; remembered, as clients repeat theirs. */
  async classify(sql: string): Promise<Classification> {
    const known = this.#classifications.get(sql)
    if (known) return known
    const found = await this.#base.classify(sql)
    if (this.#classifications.size >= cachedClassifications) this.#classifications.clear()
    if (sql.length < 10_000) this.#classifications.set(sql, found)
    return found
  }

  contentType(format: string): string {
    return this.#contentTypes.get(format) ?? 'text/plain; charset=UTF-8'
  }

  /** Tells the query on the connection with this mark to stop. False when none runs there (yet). */
  kill(mark: string): Promise<boolean> {
    return this.#killer.kill(mark)
  }

  /** Closes what the engine itself holds open. Queries have to be done by then. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const database of this.#spares.keys()) await this.#closeSpares(database)
    await this.#killer.close()
    await this.#base.close()
  }

  #refill(database: string): void {
    if (this.#isClosed) return
    const spares = this.#spares.get(database) ?? []
    // The last in a map is the one asked for last.
    this.#spares.delete(database)
    this.#spares.set(database, spares)
    const [oldest] = this.#spares.keys()
    if (this.#spares.size > spareDatabases && oldest !== undefined) void this.#closeSpares(oldest)
    while (spares.length < spareConnections) {
      const spare = this.#connect(database)
      spare.catch(() => undefined)
      spares.push(spare)
    }
  }

  async #closeSpares(database: string): Promise<void> {
    const spares = this.#spares.get(database) ?? []
    this.#spares.delete(database)
    for (const spare of await Promise.allSettled(spares)) if (spare.status === 'fulfilled') await spare.value.close()
  }

  async #connect(database: string, args: string[] = []): Promise<Connection> {
    const connection = new Connection(this.#addon, this.#directory, args, `http-${++this.#opened}`)
    try {
      connection.runNow(`SET ${markSetting} = ${quoteString(connection.mark)}`)
      if (database !== 'default') await connection.run(`USE ${quoteName(database)}`)
      return connection
    } catch (error) {
      await connection.close()
      throw error
    }
  }
}

type Facts = { version: string; timezone: string; contentTypes: [string, string][] }
