import { fileURLToPath } from 'node:url'
import { SECRET_VARIABLES } from '../process/environment.js'
import { PlumblineError } from '../process/errors.js'
import type { LocalConfig } from './config.js'
import { Part, type PartOptions } from './supervisor.js'

/** Something that a restart cannot fix prevents the start. */
export class StartError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

export const print = (line: string): void => console.log(line)

type Program = Pick<PartOptions, 'name' | 'ready' | 'ownsTerminal' | 'envWhenRestarted'> & {
  /** Of the compiled program, relative to this folder. */
  entry: string
  args?: string[]
  env: PartOptions['env']
}

/** What the parts are started with. */
export type Start = {
  config: LocalConfig
  /** DATA_DIR as an absolute path. */
  dataDir: string
  /** Starts a program as a part; resolves to its announcement when it is ready. */
  start: (program: Program) => Promise<string>
}

/** The parts are given values here, not the files that these came from. */
const withoutFiles = (env: PartOptions['env']): PartOptions['env'] => ({
  ...Object.fromEntries(SECRET_VARIABLES.filter((name) => env[name]).map((name) => [`${name}_FILE`, undefined])),
  ...env,
})

/** The programs that were started, each as a supervised part. */
export class Programs {
  readonly #options: Pick<PartOptions, 'logDir' | 'onLost'>
  readonly #parts: Part[] = []

  constructor(options: Pick<PartOptions, 'logDir' | 'onLost'>) {
    this.#options = options
  }

  start({ entry, args = [], ...options }: Program): Promise<string> {
    const program = [fileURLToPath(new URL(entry, import.meta.url)), ...args]
    const part = new Part({ ...options, ...this.#options, env: withoutFiles(options.env), program, print })
    this.#parts.unshift(part)
    return part.start()
  }

  /** Stops all in reverse order of start: first those that use ClickHouse and the node, then these. */
  async stop(): Promise<void> {
    for (const part of this.#parts) await part.stop()
  }
}

/** The line itself if it is a part's ready line in JSON, otherwise null. */
export const jsonReady = (line: string): string | null => (line.startsWith('{"ready":true') ? line : null)

/** For a ready line that begins with `start`: the rest of it; null for any other line. */
export const textReady =
  (start: string) =>
  (line: string): string | null =>
    line.startsWith(start) ? line.slice(start.length) : null

/** Makes a restarted part listen on the port that it had before, where the other parts expect it. */
export const samePort = (variable: string, address: RegExp) => (announcement: string) => ({
  [variable]: address.exec(announcement)?.[1] ?? '0',
})
export const LOOPBACK_PORT = /127\.0\.0\.1:(\d+)/
