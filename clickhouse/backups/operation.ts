import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { z } from 'zod'
import { ConfigError } from '../../process/environment.js'
import { PlumblineError } from '../../process/errors.js'
import { defineOptionalRow } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'

/** A backup or a restore that would not succeed if it were repeated as it was. */
export class BackupError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** The values of a program's `--name VALUE` flags. Throws ConfigError for one that is unknown or has no value. */
export function readFlags<Name extends string>(args: string[], names: readonly Name[]): Partial<Record<Name, string>> {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    return parseArgs({ args, options }).values as Partial<Record<Name, string>>
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)])
  }
}

/** Rows of text in columns as wide as their widest; the first to the left, the others to the right. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column] as number) : text.padStart(widths[column] as number)
  return rows.map((row) => row.map(cell).join('  ')).join('\n')
}

/** A duration for people. */
export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** A size for people. */
export const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Between two looks at an operation that may take hours. */
const LOOK_MS = 250

const Operation = z.object({
  status: z.string(),
  error: z.string(),
  bytes: z.coerce.number(),
  files: z.coerce.number(),
})

const operationById = defineOptionalRow({
  name: 'backup_operation',
  params: z.object({ id: z.string() }),
  row: Operation,
  sql: 'SELECT toString(status) AS status, error, total_size AS bytes, num_files AS files FROM system.backups WHERE id = {id: String}',
})

/**
 * Runs a BACKUP or RESTORE and resolves to its size when it is done. It runs on its own in the server, so that no time
 * limit of a connection matters. Throws BackupError where the server refuses it or it fails there.
 */
export async function runOperation(
  clickhouse: ClickHouseClient,
  sql: string,
): Promise<{ bytes: number; files: number }> {
  let id: string
  try {
    const result = await clickhouse.query({ query: `${sql} ASYNC`, format: 'JSONEachRow' })
    id = z
      .array(z.object({ id: z.string() }))
      .length(1)
      .parse(await result.json())[0]?.id as string
  } catch (cause) {
    if (cause instanceof ClickHouseError) throw new BackupError(explained(cause.message))
    throw new QueryError(sql, cause)
  }
  for (;;) {
    const operation = await operationById(clickhouse, { id })
    if (!operation) throw new BackupError(`the server forgot the operation ${id}: was it started again?`)
    const { status, error, bytes, files } = operation
    if (status === 'BACKUP_CREATED' || status === 'RESTORED') return { bytes, files }
    if (status !== 'CREATING_BACKUP' && status !== 'RESTORING') throw new BackupError(explained(error || status))
    await sleep(LOOK_MS)
  }
}

/** The file of a backup, as SQL names it. */
export const backupFile = (name: string): string => `File('${name.replace(/[\\']/g, '\\$&')}')`

function explained(error: string): string {
  if (!error.includes('backups.allowed_path')) return error
  return `${error}\nA server has to be told where backups may be: <backups><allowed_path>/path/</allowed_path></backups> in its configuration (the embedded one: --backups).`
}
