import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Everything that needs no file, command or address outside of the data directory. SYSTEM is granted by parts, because
 * SYSTEM SHUTDOWN would end the process. Without a grant on a source, its table functions and engines are refused (497).
 */
const grants = [
  'GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, CREATE DICTIONARY, DROP, UNDROP TABLE, ' +
    'TRUNCATE, OPTIMIZE, CHECK, dictGet, SYSTEM MERGES, SYSTEM TTL MERGES, SYSTEM MOVES, SYSTEM CLEANUP, SYSTEM VIEWS, ' +
    'SYSTEM SYNC REPLICA, SYSTEM FLUSH, SYSTEM WAIT LOADING PARTS, SYSTEM LOAD PRIMARY KEY, SYSTEM UNLOAD PRIMARY KEY ON *.*',
  'GRANT CREATE TEMPORARY TABLE, CREATE TEMPORARY VIEW, CREATE FUNCTION, DROP FUNCTION, KILL QUERY, SYSTEM DROP CACHE, ' +
    'SYSTEM RELOAD DICTIONARY, SYSTEM RELOAD FUNCTION, SYSTEM RELOAD ASYNCHRONOUS METRICS ON *.*',
]

/** Settings that would change how SQL is read, or that hold SQL, a path or an address: no client may touch them. */
const fixedSettings = [
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
  'input_format_values_interpret_expressions',
  'input_format_values_deduce_templates_of_expressions',
]

/** Writes the engine's configuration below `directory` and returns the path of its main file. */
export function writeEngineConfig(directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const nowhere = join(directory, 'none')
  const usersFile = join(directory, 'users.xml')
  const constraints = fixedSettings.map((name) => `<${name}><const/></${name}>`).join('')
  const users = `<clickhouse>
<profiles><default><implicit_select>0</implicit_select><input_format_values_interpret_expressions>0</input_format_values_interpret_expressions><input_format_values_deduce_templates_of_expressions>0</input_format_values_deduce_templates_of_expressions><constraints>${constraints}</constraints></default></profiles>
<users><default><password></password><networks><ip>::1</ip><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota><grants>${grants.map((grant) => `<query>${grant}</query>`).join('')}</grants></default></users>
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
  writeFileSync(usersFile, users, { mode: 0o600 })
  const configFile = join(directory, 'config.xml')
  writeFileSync(configFile, config, { mode: 0o600 })
  return configFile
}

const escapeXml = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
