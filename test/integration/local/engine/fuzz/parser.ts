import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { loadAddon } from '../../../../../local/engine/engine/addon.js'

/** The result of the engine's own parser: the number of statements, their class, and a single one formatted. */
export type Parsed = { count: number; class: number; formatted: string | null }

/** The engine's parser in a separate process, because an open engine can hang its process. */
export class Parser {
  readonly #child: ChildProcess
  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(directory: string): Promise<Parser> {
    const built = fileURLToPath(new URL('../../../../../dist/', import.meta.url))
    const child = fork(`${built}test/integration/local/engine/fuzz/parser.js`, [directory])
    await once(child, 'message')
    return new Parser(child)
  }

  async parse(texts: string[]): Promise<Parsed[]> {
    this.#child.send(texts)
    const [answer] = (await once(this.#child, 'message')) as [Parsed[]]
    return answer
  }

  async stop(): Promise<void> {
    this.#child.send('end')
    await once(this.#child, 'exit')
  }
}

const [, program, directory] = process.argv
if (program === fileURLToPath(import.meta.url) && directory !== undefined) {
  const addon = loadAddon()
  const connection = addon.CreateConnection(directory, [])
  const parse = async (sql: string): Promise<Parsed> => {
    const { statementCount, queryClass } = await addon.DurableClassifyAsync(connection, sql, 'default')
    const hex = Buffer.from(sql).toString('hex')
    const query = `SELECT formatQuerySingleLineOrNull(unhex('${hex}')) AS f`
    const { bytes } = await addon.QueryAsyncConnection(connection, query, 'JSONEachRow')
    return { count: statementCount, class: queryClass, formatted: JSON.parse(bytes.toString()).f }
  }
  process.on('message', async (message: string[] | 'end') => {
    if (message === 'end') {
      addon.CloseConnection(connection)
      process.exit(0)
    }
    const parsed: Parsed[] = []
    for (const sql of message) parsed.push(await parse(sql))
    process.send?.(parsed)
  })
  process.send?.('ready')
}
