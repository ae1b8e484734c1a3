import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The result of the engine's own parser: the number of statements, their class, and a single one formatted. */
export type Parsed = { count: number; class: number; formatted: string | null }

/** The engine's parser in a separate process, because an open engine can hang its process. */
export class Parser {
  readonly #child: ChildProcess
  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(directory: string): Promise<Parser> {
    const child = fork(fileURLToPath(new URL('./parser-process.mjs', import.meta.url)), [directory])
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
