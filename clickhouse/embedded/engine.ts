import { join } from 'node:path'
import { type Addon, type Classification, loadAddon } from './addon.js'
import { Connection, markSetting } from './connection.js'
import { writeEngineConfig } from './engine-config.js'
import { quoteString } from './settings.js'

/** Connections opened ahead of need. Opening and marking one takes about 0.2 ms. */
const spareConnections = 8
const cachedClassifications = 2_000

/** The one engine of this process, on one directory. */
export class Engine {
  readonly version: string
  readonly timezone: string
  readonly #addon: Addon
  readonly #directory: string
  readonly #base: Connection
  readonly #killer: Connection
  readonly #spares: Promise<Connection>[] = []
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
    this.#killer = new Connection(addon, directory, [], 'kill')
    this.#refill()
  }

  /** Opens or creates the data in `dataDirectory`/engine. Throws when another process has it. */
  static async open(dataDirectory: string): Promise<Engine> {
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

  /** A marked connection with nothing set, in the database `default`. The caller closes it. */
  connect(): Promise<Connection> {
    const spare = this.#spares.shift() ?? this.#connect()
    setImmediate(() => this.#refill())
    return spare
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
  async kill(mark: string): Promise<boolean> {
    const { bytes } = await this.#killer.run(`KILL QUERY WHERE Settings['${markSetting}'] = ${quoteString(mark)} ASYNC`)
    return bytes.length > 0
  }

  /** Closes what the engine itself holds open. Queries have to be done by then. */
  async close(): Promise<void> {
    this.#isClosed = true
    const spares = await Promise.allSettled(this.#spares)
    for (const spare of spares) if (spare.status === 'fulfilled') await spare.value.close()
    await this.#killer.close()
    await this.#base.close()
  }

  #refill(): void {
    if (this.#isClosed) return
    while (this.#spares.length < spareConnections) {
      const spare = this.#connect()
      spare.catch(() => undefined)
      this.#spares.push(spare)
    }
  }

  async #connect(): Promise<Connection> {
    const mark = `http-${++this.#opened}`
    const connection = new Connection(this.#addon, this.#directory, [], mark)
    await connection.run(`SET ${markSetting} = ${quoteString(mark)}`)
    return connection
  }
}

type Facts = { version: string; timezone: string; contentTypes: [string, string][] }
