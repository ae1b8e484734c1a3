import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ConfigError } from './environment.js'

type Options = NonNullable<ParseArgsConfig['options']>

/** The values of a program's flags, as parseArgs of Node.js gives them. Throws ConfigError for an unknown flag or a missing value. */
export function readFlags<const Known extends Options>(options: Known, args: string[] = process.argv.slice(2)) {
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)])
  }
}

/** Formats rows as columns of equal width: the first is aligned left, the others right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] as number) : text.padStart(widths[column] as number)
  return rows.map((row) => row.map(cell).join('  ')).join('\n')
}

/** A duration for output, such as `1.5 s`. */
export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** A size for output, such as `1.5 MB`; in GB from ten of them. */
export const inBytes = (bytes: number): string =>
  bytes < 1e10 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
