import { setTimeout as sleep } from 'node:timers/promises'
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { z } from 'zod'
import { clickhouseEnv } from '../../clickhouse/store/client.js'
import { defineOptionalRow } from '../../clickhouse/store/define-query.js'
import { QueryError } from '../../clickhouse/store/query-error.js'
import { PlumblineError } from '../../process/errors.js'

/** A backup or restore failed, and a retry would fail too. */
export class BackupError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** How often the state of an operation is read. An operation may take hours. */
const POLL_MS = 250

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
 * Runs a BACKUP or RESTORE and resolves to its size when it is done. The server runs it in the background, so that no
 * timeout of a connection applies. Throws BackupError if the server refuses it or it fails.
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
    if (!operation) throw new BackupError(`the server no longer knows the operation ${id}; it may have restarted`)
    const { status, error, bytes, files } = operation
    if (status === 'BACKUP_CREATED' || status === 'RESTORED') return { bytes, files }
    if (status !== 'CREATING_BACKUP' && status !== 'RESTORING') throw new BackupError(explained(error || status))
    await sleep(POLL_MS)
  }
}

/** The variables of backup and restore. */
export const BackupEnv = z.object({
  ...clickhouseEnv,
  BACKUP_S3: z
    .string()
    .regex(/^[A-Za-z_]\w*$/, 'must be the name of a named collection: letters, digits and underscores')
    .optional(),
})
export type BackupEnv = z.infer<typeof BackupEnv>

/**
 * The location of a backup, for SQL: below the server's path for backups, or in the bucket of the named collection
 * BACKUP_S3. The server knows the credentials of that, so they are in no statement and no log.
 */
export function backupLocation({ BACKUP_S3 }: Pick<BackupEnv, 'BACKUP_S3'>, name: string): string {
  const path = `'${name.replace(/[\\']/g, '\\$&')}'`
  return BACKUP_S3 === undefined ? `File(${path})` : `S3(${BACKUP_S3}, ${path})`
}

function explained(error: string): string {
  if (!error.includes('backups.allowed_path')) return error
  return `${error}\nAllow a path for backups in the configuration of the server: <backups><allowed_path>/path/</allowed_path></backups> (for the embedded engine: --backups).`
}
