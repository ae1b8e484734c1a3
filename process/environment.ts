import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { PlumblineError } from './errors.js'

/** A process cannot start as configured. The message has one line for each variable at fault. */
export class ConfigError extends PlumblineError {
  constructor(problems: string[]) {
    super(`bad configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, { retryable: false })
  }
}

/**
 * The variables that hold a secret, or a URL that may contain one. Each may be kept in a file instead: the variable of
 * the same name with _FILE at its end then holds the file's path.
 */
export const SECRET_VARIABLES: readonly string[] = [
  'ADMIN_API_KEY',
  'CLICKHOUSE_PASSWORD',
  'CLICKHOUSE_RECORDS_PASSWORD',
  'METRICS',
  'PAYMENT_FEE_PAYER_KEY',
  'PAYMENT_RPC_URL',
  'REDIS_URL',
  'RPC_URL',
  'RPC_WS_URL',
  'SECRETS_KEY',
  'VERIFY_API_KEY',
]

/** The contents of a variable's file, without the line end that editors and `echo` add; undefined if it names none. */
function secretIn(name: string, env: Record<string, string | undefined>, problems: string[]): string | undefined {
  const path = env[`${name}_FILE`]
  if (!path) return undefined
  try {
    const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (secret && env[name]) problems.push(`${name}: set either it or ${name}_FILE, not both`)
    return secret
  } catch (error) {
    problems.push(`${name}_FILE: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
}

/**
 * The variables that `schema` names, parsed from `env`; an empty value counts as unset, and so does an empty file of a
 * secret. Throws ConfigError naming every bad variable at once. The message never contains the values, because a secret
 * may be among them.
 */
export function parseEnv<Schema extends z.ZodType>(
  schema: Schema,
  env: Record<string, string | undefined>,
): z.output<Schema> {
  const problems: string[] = []
  const named = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const secrets = SECRET_VARIABLES.filter((name) => named.includes(name)).map((name) => [
    name,
    secretIn(name, env, problems) || env[name],
  ])
  const values = { ...env, ...Object.fromEntries(secrets) }
  const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(set)
  if (result.success && problems.length === 0) return result.data
  const unreadable = new Set(problems.map((problem) => problem.split(/(?:_FILE)?:/, 1)[0]))
  for (const { path, message } of result.error?.issues ?? []) {
    const name = path.join('.')
    if (unreadable.has(name)) continue
    problems.push(`${name}: ${message.startsWith('Invalid input') && !(name in set) ? 'is required' : message}`)
  }
  throw new ConfigError(problems)
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
