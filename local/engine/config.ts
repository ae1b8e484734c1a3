import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { hashPassword } from './access/password.js'
import { owner, readUsers, type User, userName } from './access/users.js'
import { availableMemory } from './memory.js'
import { defaultMaxConcurrentQueries } from './threads.js'

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))

/** Paths go into SQL as file names, in which the engine expands these. */
const plainPath = z
  .string({ error: 'is required' })
  .min(1, 'is required')
  .regex(/^[^*?{}[\]'"`\\\n]*$/, 'may not contain any of * ? { } [ ] \\ or quotes')

/** Every flag and variable that is read, but those that stand in for a flag. */
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
})

export type Config = {
  dataDirectory: string
  port: number
  /** The owner first. */
  users: User[]
  maxConcurrentQueries: number
  /** 0 keeps no query log. */
  queryLogDays: number
  /** Where backups go; below the data directory unless it is named. */
  backupDirectory: string
  /** Bytes. */
  maxServerMemory: number
}

/** The rest is for what the engine does not count, and for the other processes of the machine. */
const memoryShare = 0.75

/** Every flag, as parseArgs takes them. */
export const flags = {
  data: { type: 'string' },
  port: { type: 'string' },
  users: { type: 'string' },
  backups: { type: 'string' },
  'query-log-days': { type: 'string' },
} as const

/** Reads flags, variables and the file of users. Throws one error that names everything that is wrong with them. */
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
    CLICKHOUSE_MAX_CONCURRENT_QUERIES: env.CLICKHOUSE_MAX_CONCURRENT_QUERIES || undefined,
    CLICKHOUSE_MAX_SERVER_MEMORY_MB: env.CLICKHOUSE_MAX_SERVER_MEMORY_MB || undefined,
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
    problems.push(`${values.CLICKHOUSE_USER} is the owner (CLICKHOUSE_USER) and stands in the users file too`)
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
  }
}
