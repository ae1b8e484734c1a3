import { totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { hashPassword } from './access/password.js'
import { owner, readUsers, type User, userName } from './access/users.js'
import { SandboxMode } from './sandbox/sandbox.js'
import { defaultMaxConcurrentQueries } from './threads.js'

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))

/** Paths become file names in SQL, where the engine would expand these characters as patterns. */
const plainPath = z
  .string({ error: 'is required' })
  .min(1, 'is required')
  .regex(/^[^*?{}[\]'"`\\\n]*$/, 'may not contain any of * ? { } [ ] \\ or quotes')

/** Every flag and variable, except variables that replace a flag. */
export const Variables = z.object({
  '--data': plainPath,
  '--port': wholeNumber(0, 65_535).default(8123),
  '--users': z.string().optional(),
  '--query-log-days': wholeNumber(0, 3650).default(7),
  '--backups': plainPath.optional(),
  CLICKHOUSE_USER: userName.default('default'),
  CLICKHOUSE_PASSWORD: z.string().optional(),
  CLICKHOUSE_ALLOW_EMPTY_PASSWORD: z.enum(['0', '1'], { error: 'must be 0 or 1' }).default('0'),
  CLICKHOUSE_MAX_CONCURRENT_QUERIES: wholeNumber(1, 1000).default(defaultMaxConcurrentQueries),
  CLICKHOUSE_MAX_SERVER_MEMORY_MB: wholeNumber(512, 16_777_216).optional(),
  CLICKHOUSE_SANDBOX: SandboxMode.default('auto'),
})

export type Config = {
  dataDirectory: string
  port: number
  /** The owner is the first. */
  users: User[]
  maxConcurrentQueries: number
  /** 0 disables the query log. */
  queryLogDays: number
  /** Where backups are written and read; by default below the data directory. */
  backupDirectory: string
  /** Bytes. */
  maxServerMemory: number
  sandbox: SandboxMode
}

/** The rest is for memory that the engine does not track, and for other processes. */
const memoryShare = 0.75

/** Bytes of memory that this process may use: of the machine, or of its container if that has less. */
function availableMemory(): number {
  // Without a limit, this is 0, undefined or more than the machine has.
  const limit = process.constrainedMemory()
  return limit ? Math.min(limit, totalmem()) : totalmem()
}

/** Every flag, in the form that parseArgs takes. */
export const flags = {
  data: { type: 'string' },
  port: { type: 'string' },
  users: { type: 'string' },
  backups: { type: 'string' },
  'query-log-days': { type: 'string' },
} as const

/** Reads flags, variables and the users file. Throws one error that names every problem. */
export function readConfig(args: string[], env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
  const given = attempt(() => parseArgs({ args, options: flags }).values) ?? {}
  const port = given.port ?? (env.CLICKHOUSE_PORT || undefined)
  const usersFile = given.users ?? (env.CLICKHOUSE_USERS_FILE || undefined)
  const parsed = Variables.safeParse({
    ...env,
    CLICKHOUSE_ALLOW_EMPTY_PASSWORD: env.CLICKHOUSE_ALLOW_EMPTY_PASSWORD || undefined,
    CLICKHOUSE_MAX_CONCURRENT_QUERIES: env.CLICKHOUSE_MAX_CONCURRENT_QUERIES || undefined,
    CLICKHOUSE_MAX_SERVER_MEMORY_MB: env.CLICKHOUSE_MAX_SERVER_MEMORY_MB || undefined,
    CLICKHOUSE_SANDBOX: env.CLICKHOUSE_SANDBOX || undefined,
    '--data': given.data,
    '--port': port,
    '--users': usersFile,
    '--backups': given.backups,
    '--query-log-days': given['query-log-days'],
  })
  if (!parsed.success) problems.push(...parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`))
  if (!env.CLICKHOUSE_PASSWORD && env.CLICKHOUSE_ALLOW_EMPTY_PASSWORD !== '1') {
    problems.push('CLICKHOUSE_PASSWORD is required (or set CLICKHOUSE_ALLOW_EMPTY_PASSWORD=1)')
  }
  const others = usersFile === undefined ? [] : (attempt(() => readUsers(usersFile)) ?? [])
  const values = parsed.data
  if (values && others.some(({ name }) => name === values.CLICKHOUSE_USER)) {
    problems.push(`${values.CLICKHOUSE_USER} is the owner (CLICKHOUSE_USER) and must not be in the users file as well`)
  }
  if (!values || problems.length > 0) throw new Error(problems.join('; '))
  const maxMegabytes = values.CLICKHOUSE_MAX_SERVER_MEMORY_MB
  return {
    dataDirectory: values['--data'],
    backupDirectory: values['--backups'] ?? join(values['--data'], 'backups'),
    maxServerMemory: maxMegabytes ? maxMegabytes * 1024 * 1024 : Math.floor(availableMemory() * memoryShare),
    port: values['--port'],
    users: [owner(values.CLICKHOUSE_USER, hashPassword(values.CLICKHOUSE_PASSWORD ?? '')), ...others],
    maxConcurrentQueries: values.CLICKHOUSE_MAX_CONCURRENT_QUERIES,
    queryLogDays: values['--query-log-days'],
    sandbox: values.CLICKHOUSE_SANDBOX,
  }
}
