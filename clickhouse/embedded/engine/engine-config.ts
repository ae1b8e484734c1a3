import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { grantsOf } from '../access/grants.js'
import type { User } from '../access/users.js'
import { markSetting } from './connection.js'

/** Off but for rows that were looked through: expressions are SQL. */
export const evaluationSettings = [
  'input_format_values_interpret_expressions',
  'input_format_values_deduce_templates_of_expressions',
]

/** Settings that would change how SQL is read, or that hold SQL, a path or an address: no client may touch them. */
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

/** The names of a user's role and settings profile in the engine, which itself knows one user only. */
export const accessName = ({ name }: User): string => `user_${name}`

/** The profile of connections on which the rows of an INSERT in the format Values may be expressions. */
export const evaluatingName = (user: User): string => `${accessName(user)}_evaluating`

/**
 * Writes the engine's configuration below `directory` and returns the path of its main file. The engine's one user has
 * a role for each of `users`; a connection that sets one has the rights of that user and no others.
 */
export function writeEngineConfig(directory: string, users: readonly User[]): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const nowhere = join(directory, 'none')
  const usersFile = join(directory, 'users.xml')
  const roles = users.map((user) => element(accessName(user), grants(grantsOf(user)))).join('')
  const usersConfig = `<clickhouse>
<profiles><default>${values('0')}${element('constraints', fixedConstraints)}</default>
${users.map(profile).join('\n')}</profiles>
<roles>${roles}</roles>
<users><default><password></password><networks><ip>::1</ip><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota>${grants([`GRANT ${users.map(accessName).join(', ')}`])}</default></users>
<quotas><default></default></quotas>
</clickhouse>
`
  const config = `<clickhouse>
<users_config>${escapeXml(usersFile)}</users_config>
<user_files_path>${escapeXml(nowhere)}/files/</user_files_path>
<user_scripts_path>${escapeXml(nowhere)}/scripts/</user_scripts_path>
<format_schema_path>${escapeXml(nowhere)}/schemas/</format_schema_path>
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

/** What a user may set, in a profile for plain connections and in one for those that evaluate. */
function profile(user: User): string {
  const constraints = Object.entries(user.constraints).map(([name, limits]) => {
    const bounds = (['min', 'max'] as const).map((bound) => {
      const value = limits[bound]
      return value === undefined ? '' : element(bound, escapeXml(value))
    })
    return element(name, `${bounds.join('')}${limits.const ? '<const/>' : ''}`)
  })
  // Nothing is inherited: the engine would apply the inherited values on the way, against the constraints.
  const all = [...constraints, fixedConstraints].join('')
  const body = (evaluates: '0' | '1') => `${values(evaluates)}${element('constraints', all)}`
  return `${element(accessName(user), body('0'))}${element(evaluatingName(user), body('1'))}`
}

const values = (evaluates: '0' | '1') =>
  [element('implicit_select', '0'), ...evaluationSettings.map((name) => element(name, evaluates))].join('')
const fixedConstraints = fixedSettings.map((name) => element(name, '<const/>')).join('')

const escapeXml = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
