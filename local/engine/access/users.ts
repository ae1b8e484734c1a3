import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import type { PasswordHash } from './password.js'
import { Quota } from './quota.js'

/** The name is part of a connection's mark, where a slash ends it. */
export const userName = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, _, . and -')

const database = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a plain database name')
  .refine((name) => !['system', 'server_log'].includes(name), 'is reserved for the server')
const settingName = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'must be the name of a setting')
  .refine((name) => name !== 'readonly' && name !== 'profile', 'cannot be set here')
const settingValue = z.union([z.string(), z.number(), z.boolean().transform(Number)]).transform(String)
const hex = (length: number) => z.string().regex(new RegExp(`^[0-9a-f]{${length}}$`), `must be ${length} hex digits`)

const UserEntry = z.strictObject({
  name: userName,
  password_sha256_hex: hex(64),
  password_salt: z.string().default(''),
  /** `read` selects; `write` also inserts and deletes rows; `own` also changes the schema and the server. */
  access: z.enum(['read', 'write', 'own']).default('read'),
  /** As ClickHouse's setting: 1 only reads, 2 reads and may change settings, 0 does what `access` allows. */
  readonly: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  /** All databases if omitted. */
  databases: z.array(database).min(1).optional(),
  settings: z.record(settingName, settingValue).default({}),
  constraints: z
    .record(
      settingName,
      z.strictObject({
        min: settingValue.optional(),
        max: settingValue.optional(),
        const: z.literal(true).optional(),
      }),
    )
    .default({}),
  quota: Quota.optional(),
})

/** A user who may send queries, and their rights. */
export type User = Readonly<z.output<typeof UserEntry>>

const UsersFile = z.strictObject({ users: z.array(UserEntry) }).superRefine(({ users }, context) => {
  const names = users.map(({ name }) => name)
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) < i)
      context.addIssue({ code: 'custom', path: ['users', i, 'name'], message: `${name} is listed twice` })
  }
})

/** Whether a user owns the whole server rather than some of its databases. */
export const isOwner = ({ access, databases }: Pick<User, 'access' | 'databases'>): boolean =>
  access === 'own' && databases === undefined

/** The owner of the server: every database, and every right that a client of this server can have. */
export function owner(name: string, hash: PasswordHash): User {
  return { name, ...hash, access: 'own', readonly: 0, settings: {}, constraints: {} }
}

/**
 * Reads users from a JSON file: `{"users": [{"name": …, "password_sha256_hex": …, …}]}`. Throws one error that names
 * every problem; also throws if other users of the machine may read the file.
 */
export function readUsers(path: string): User[] {
  let text: string
  try {
    if ((statSync(path).mode & 0o077) !== 0) throw new Error('other users can read it: run chmod 600')
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`users file ${path}: ${error instanceof Error ? error.message : error}`)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The parser's message is left out: it would quote the file.
    throw new Error(`users file ${path} is not JSON`)
  }
  const parsed = UsersFile.safeParse(json)
  if (parsed.success) return parsed.data.users
  const problems = parsed.error.issues.map((issue) => {
    const why = issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message).join(', ') : issue.message
    return `${issue.path.join('.')}: ${why}`
  })
  throw new Error(`users file ${path}: ${problems.join('; ')}`)
}
