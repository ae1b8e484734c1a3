import { z } from 'zod'
import { PlumblineError } from './errors.js'

/** A process cannot start as configured. The message has one line for each variable at fault. */
export class ConfigError extends PlumblineError {
  constructor(problems: string[]) {
    super(`bad configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, { retryable: false })
  }
}

/**
 * The variables that `schema` names, parsed from `env`; an empty value counts as unset. Throws ConfigError naming every
 * bad variable at once. The message never contains the values, because a secret may be among them.
 */
export function parseEnv<Schema extends z.ZodType>(
  schema: Schema,
  env: Record<string, string | undefined>,
): z.output<Schema> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(set)
  if (result.success) return result.data
  throw new ConfigError(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
}

/** A whole number in an environment variable, `min` and `max` included. */
export const envInt = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)

/** A number in an environment variable, fractions allowed, `min` and `max` included. */
export const envNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, `must be a number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a number from ${min} to ${max}`)

/** An absolute URL in an environment variable with one of `protocols`, each written without the colon. */
export const envUrl = (...protocols: string[]) =>
  z.string().refine(
    (value) => {
      const protocol = URL.canParse(value) ? new URL(value).protocol : ''
      return protocols.some((allowed) => protocol === `${allowed}:`)
    },
    `must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
  )

/** The lowest level that a process logs. */
export const logLevel = z
  .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
  .default('info')
