import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { NativeConnection } from '../../local/engine/engine/addon.js'
import { loadAddon } from '../../local/engine/engine/addon.js'

/** What the engine is asked to do: statements one after the other on one connection, or all the time on several. */
type Order =
  | { kind: 'each'; statements: string[] }
  | { kind: 'load'; statements: string[]; connections: number; ms: number }
  | { kind: 'end' }

/** The engine in a process of its own, without HTTP: what the same statements take at least. */
export class InProcess {
  readonly #child: ChildProcess
  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Opens the data in `directory` with as many threads as the gateway has. */
  static async start(directory: string, threads: number): Promise<InProcess> {
    const child = fork(fileURLToPath(import.meta.url), [directory], {
      env: { ...process.env, UV_THREADPOOL_SIZE: String(threads), TZ: 'UTC' },
      serialization: 'advanced',
    })
    await once(child, 'message')
    return new InProcess(child)
  }

  /** Runs the statements in turn; milliseconds of each. */
  each(statements: string[]): Promise<number[]> {
    return this.#ask({ kind: 'each', statements })
  }

  /** How many of the statements are answered in `ms` on this many connections. */
  async load(statements: string[], connections: number, ms: number): Promise<number> {
    const [count = 0] = await this.#ask({ kind: 'load', statements, connections, ms })
    return count
  }

  async stop(): Promise<void> {
    this.#child.send({ kind: 'end' } satisfies Order)
    await once(this.#child, 'exit')
  }

  async #ask(order: Order): Promise<number[]> {
    this.#child.send(order)
    const [answer] = (await once(this.#child, 'message')) as [number[] | { error: string }]
    if ('error' in answer) throw new Error(answer.error)
    return answer
  }
}

/** The other side of it. */
async function serve(directory: string): Promise<void> {
  const addon = loadAddon()
  const connections: NativeConnection[] = []
  const connection = (i: number): NativeConnection => {
    connections[i] ??= addon.CreateConnection(directory, [])
    return connections[i]
  }
  connection(0)
  const run = (i: number, sql: string) => addon.QueryAsyncConnection(connection(i), sql, 'JSONEachRow')
  const answer = async (order: Order): Promise<number[]> => {
    if (order.kind === 'end') {
      for (const open of connections) addon.CloseConnection(open)
      process.exit(0)
    }
    if (order.kind === 'each') {
      const times: number[] = []
      for (const sql of order.statements) {
        const start = performance.now()
        await run(0, sql)
        times.push(performance.now() - start)
      }
      return times
    }
    const end = performance.now() + order.ms
    let count = 0
    const worker = async (i: number) => {
      for (let n = i; performance.now() < end; n++, count++)
        await run(i, order.statements[n % order.statements.length] as string)
    }
    await Promise.all(Array.from({ length: order.connections }, (_, i) => worker(i)))
    return [count]
  }
  process.on('message', (order: Order) => {
    answer(order).then(
      (times) => process.send?.(times),
      (error) => process.send?.({ error: String(error) }),
    )
  })
  process.send?.('ready')
}

const [, program, directory] = process.argv
if (program === fileURLToPath(import.meta.url) && directory !== undefined) await serve(directory)
