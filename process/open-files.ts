import { readFileSync } from 'node:fs'

/** Files and connections besides those of callers: databases, Redis, the node, logs, and ordinary requests under way. */
const OTHER_FILES = 1024

/** The limit of open files in the text of `/proc/self/limits`; null if it names none, as for `unlimited`. */
function openFilesLimit(limits: string): number | null {
  const [, soft] = /^Max open files +(\d+) /m.exec(limits) ?? []
  return soft === undefined ? null : Number(soft)
}

/**
 * Why the limit of open files (`ulimit -n`, which Node raises to the hard limit by itself) is too small for a process that keeps
 * `connections` open; null if it is not, or the system does not say. Beyond the limit new connections are refused.
 */
export function openFilesProblem(
  connections: number,
  read = () => readFileSync('/proc/self/limits', 'utf8'),
): string | null {
  let limit: number | null
  try {
    limit = openFilesLimit(read())
  } catch {
    return null
  }
  const needed = connections + OTHER_FILES
  if (limit === null || limit >= needed) return null
  return `at most ${limit} files may be open, and ${connections} streams need ${needed}: raise ulimit -n, or lower STREAM_CONNECTIONS`
}
