import { parseArgs } from 'node:util'
import { ConfigError } from '../../process/environment.js'

/** The values of a program's `--name VALUE` flags. Throws ConfigError for one that is unknown or has no value. */
export function readFlags<Name extends string>(args: string[], names: readonly Name[]): Partial<Record<Name, string>> {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    return parseArgs({ args, options }).values as Partial<Record<Name, string>>
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)])
  }
}
