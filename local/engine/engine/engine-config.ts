import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { grantsOf } from '../access/grants.js'
import { isOwner, type User } from '../access/users.js'
import { hiddenSystemTables } from '../judge/allowed/system-tables.js'
import { quoteName, quoteString } from '../query/settings.js'
import { markSetting } from './connection.js'

/** Off except for rows that were checked, because expressions are SQL. */
export const evaluationSettings = [
  'input_format_values_interpret_expressions',
  'input_format_values_deduce_templates_of_expressions',
]

/** Settings that change how SQL is parsed, or that contain SQL, a path or an address. No client may set them. */
const fixedSettings = [
  markSetting,
  'dialect',
  'allow_settings_after_format_in_insert',
  'allow_experimental_eval_table_function',
  'input_format_record_errors_file_path',
  'output_format_schema',
  'format_template_row',
  'format_template_resultset',
  'format_avro_schema_registry_url',
  'additional_result_filter',
  'additional_table_filters',
  'parallel_replicas_custom_key',
  'rename_files_after_processing',
  ...evaluationSettings,
]

/**
 * The name of a user's role and settings profile in the engine, which has only one user itself. It is the name of an XML
 * element, in which a dot would start another level, so special characters are encoded.
 */
export const accessName = ({ name }: User): string => `user_${encoded(name)}`

/** The profile of connections on which rows in the format Values may be expressions. */
export const evaluatingName = ({ name }: User): string => `evaluating_${encoded(name)}`

const encoded = (name: string) => name.replace(/[^A-Za-z0-9_]/g, (c) => `-${c.charCodeAt(0).toString(16)}`)

export type EngineOptions = {
  users: readonly User[]
  /** The only directory that BACKUP writes to and RESTORE reads from. */
  backupDirectory: string
  /** Bytes that all queries and merges may use together. */
  maxServerMemory: number
}

/**
 * Writes the engine's configuration below `directory` and returns the path of its main file. The engine's only user has a
 * role for each of `users`; a connection that sets the role has the rights of that user and no others.
 */
export function writeEngineConfig(
  directory: string,
  { users, backupDirectory, maxServerMemory }: EngineOptions,
): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const nowhere = join(directory, 'none')
  const usersFile = join(directory, 'users.xml')
  const roles = users.map((user) => element(accessName(user), grants(grantsOf(user)))).join('')
  const usersConfig = `<clickhouse>
<profiles><default>${values('0')}${element('constraints', fixedConstraints)}</default>
${users.map(profile).join('\n')}</profiles>
<roles>${roles}</roles>
<users><default><password></password><networks><ip>::1</ip><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota>${grants([`GRANT ${users.map((user) => quoteName(accessName(user))).join(', ')}`])}
${rowPolicies(users)}</default></users>
<quotas><default></default></quotas>
</clickhouse>
`
  const config = `<clickhouse>
<users_config>${escapeXml(usersFile)}</users_config>
<user_files_path>${escapeXml(nowhere)}/files/</user_files_path>
<user_scripts_path>${escapeXml(nowhere)}/scripts/</user_scripts_path>
<format_schema_path>${escapeXml(nowhere)}/schemas/</format_schema_path>
<backups><allowed_path>${escapeXml(backupDirectory)}/</allowed_path></backups>
<max_server_memory_usage>${maxServerMemory}</max_server_memory_usage>
</clickhouse>
`
  writeFileSync(usersFile, usersConfig, { mode: 0o600 })
  const configFile = join(directory, 'config.xml')
  writeFileSync(configFile, config, { mode: 0o600 })
  return configFile
}

const element = (name: string, content: string) => `<${name}>${content}</${name}>`
const grants = (statements: string[]) =>
  element('grants', statements.map((statement) => element('query', escapeXml(statement))).join(''))

/**
 * To the engine, every client is the same user, so row policies identify users by the role that their connection was
 * given, which no statement can change; the engine's own connections have all roles. Tables about queries show users
 * their own rows; tables whose rows have no user show them to owners only.
 */
function rowPolicies(users: readonly User[]): string {
  const roles = (of: readonly User[]) => `[${of.map((user) => quoteString(accessName(user))).join(', ')}]`
  const isOwners = `hasAny(currentRoles(), ${roles(users.filter(isOwner))})`
  const names = `[${users.map(({ name }) => quoteString(name)).join(', ')}]`
  const userOfRole = `arrayElement(${names}, indexOf(${roles(users)}, arrayElement(currentRoles(), 1)))`
  const policies = {
    system: {
      processes: `${isOwners} OR ${userOf(`Settings['${markSetting}']`)} = ${userOfRole}`,
      ...Object.fromEntries(hiddenSystemTables.map((table) => [table, isOwners])),
      // What the owner wrote is the owner's.
      functions: `${isOwners} OR origin = 'System'`,
      // The mark is not a setting that clients have.
      settings: `name != '${markSetting}'`,
    },
    server_log: { query_log: `${isOwners} OR user = ${userOfRole}` },
  }
  const databases = Object.entries(policies).map(([database, tables]) => {
    const filters = Object.entries(tables).map(([table, sql]) => element(table, element('filter', escapeXml(sql))))
    return element(database, filters.join(''))
  })
  return element('databases', databases.join(''))
}

const userOf = (mark: string) => `substring(${mark}, 1, position(${mark}, '/') - 1)`

/** A user's constraints, in one profile for plain connections and one for those that evaluate expressions. */
function profile(user: User): string {
  const constraints = Object.entries(user.constraints).map(([name, limits]) => {
    const bounds = (['min', 'max'] as const).map((bound) => {
      const value = limits[bound]
      return value === undefined ? '' : element(bound, escapeXml(value))
    })
    return element(name, `${bounds.join('')}${limits.const ? '<const/>' : ''}`)
  })
  // Nothing is inherited: the engine would apply inherited values one by one, which the constraints forbid.
  const all = [...constraints, fixedConstraints].join('')
  const body = (evaluates: '0' | '1') => `${values(evaluates)}${element('constraints', all)}`
  return `${element(accessName(user), body('0'))}${element(evaluatingName(user), body('1'))}`
}

const values = (evaluates: '0' | '1') =>
  [element('implicit_select', '0'), ...evaluationSettings.map((name) => element(name, evaluates))].join('')
const fixedConstraints = fixedSettings.map((name) => element(name, '<const/>')).join('')

const escapeXml = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
