import { setTimeout as sleep } from 'node:timers/promises'
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'
import { BackupError } from './backup-error.js'

/** Between two looks at an operation that may take hours. */
const LOOK_MS = 250

const Operation = z.object({
  status: z.string(),
  error: z.string(),
  bytes: z.coerce.number(),
  files: z.coerce.number(),
})

const operationById = defineQuery({
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
    const [operation] = await operationById(clickhouse, { id })
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
