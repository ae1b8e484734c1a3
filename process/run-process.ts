import { type Logger, pino } from 'pino'
import { PlumblineError } from './errors.js'
import { terminalText } from './untrusted-text.js'

/** A restart would fail in the same way: bad configuration or a contradiction (EX_CONFIG of sysexits.h). */
export const FINAL_EXIT_CODE = 78

/** The exit code of a process that ends with `error`: 1 if a restart may help, else FINAL_EXIT_CODE. */
function exitCodeOf(error: unknown): number {
  return error instanceof PlumblineError && !error.retryable ? FINAL_EXIT_CODE : 1
}

/** Lines of a log that cannot be written are kept up to this length, and dropped beyond it. */
const KEPT_BYTES = 2 ** 20

/**
 * Where the lines of a log go: a file, or a descriptor. They are written synchronously, so that the last one before an exit
 * is not lost. A full disk or a reader that has gone does not end the process: lines are written once it is possible again.
 */
export function logDestination(dest: string | number): ReturnType<typeof pino.destination> {
  const destination = pino.destination({ dest, sync: true, maxLength: KEPT_BYTES })
  destination.on('error', () => {})
  return destination
}

/** A log on stderr, of lines that a terminal can show. stdout is for the operator. */
export const createLog = (name: string, level: string): Logger =>
  pino({ name, level, hooks: { streamWrite: terminalText } }, logDestination(2))

/** The context of a running process. `signal` aborts when the process is asked to stop. */
type Running<Config> = { config: Config; log: Logger; signal: AbortSignal }

/** Resolves to the exit code; undefined is 0. */
type Work = Promise<number> | Promise<void>

/**
 * Runs a process that stops gracefully: reads its configuration, does its work, and exits. SIGTERM, SIGINT and the end
 * of the parent process abort the signal of `work`, whose AbortError then does not count as a failure; a second signal
 * ends the process at once. Any other error sets the exit code, and is the last line that is printed.
 */
export function runProcess<Config extends { LOG_LEVEL: string }>(
  name: string,
  readConfig: () => Config,
  work: (running: Running<Config>) => Work,
): Promise<never> {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(signal, () => stop.abort())
  return runCommand(name, async () => {
    try {
      const config = readConfig()
      return (await work({ config, log: createLog(name, config.LOG_LEVEL), signal: stop.signal })) ?? 0
    } catch (error) {
      if (stop.signal.aborted && error instanceof Error && error.name === 'AbortError') return 0
      throw error
    }
  })
}

/** What the exit code means for whoever reads the last line, most often in a container that restarts. */
const adviceFor = (error: unknown): string =>
  exitCodeOf(error) === FINAL_EXIT_CODE ? 'correct this first: a restart alone does not help' : 'a restart may help'

/** Ends the process. Its last line is the error, in one line, with what the operator can do. */
function stopWith(name: string, error: unknown, exitCode: number): never {
  const message = error instanceof Error ? error.message || error.name : String(error)
  const reason = message.replace(/:\s*\n\s*/g, ': ').replace(/\s*\n\s*/g, '; ')
  console.error(terminalText(`${name} stops: ${reason} (exit code ${exitCode}: ${adviceFor(error)})`))
  process.exit(exitCode)
}

/**
 * Runs a command: does its work and exits. A signal ends it at once, as is Node's default. Errors as above, including
 * those that nobody awaits.
 */
export async function runCommand(name: string, work: () => Work, exitCode = exitCodeOf): Promise<never> {
  const stop = (error: unknown): never => stopWith(name, error, exitCode(error))
  // As with the log: the process works on when nobody reads what it prints, or the disk that this goes to is full.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.on('uncaughtException', (error) => {
    console.error(error)
    stop(error)
  })
  try {
    process.exit((await work()) ?? 0)
  } catch (error) {
    return stop(error)
  }
}
