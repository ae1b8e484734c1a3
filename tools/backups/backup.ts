import { randomUUID } from 'node:crypto'
import { connect } from '../../clickhouse/store/client.js'
import { PlumblineError } from '../../process/errors.js'
import {
  countRows,
  databases,
  describesCommittedBlocks,
  describeTables,
  MANIFEST,
  type ManifestEntry,
  quoteName,
  storeManifest,
} from './manifest.js'
import { type BackupEnv, BackupError, backupLocation, runOperation } from './operation.js'

const DAY_MS = 86_400_000

/** The backup may contain facts of a batch without its row in the ledger, or the other way round. */
class InconsistentBackupError extends PlumblineError {
  constructor(to: string, tables: string[]) {
    super(
      `the backup ${to} is unusable, remove it: a backfill or a rollback wrote to ${tables.join(', ')} during the backup. Wait until it has ended, then take a backup under another name`,
      { retryable: true },
    )
  }
}

export type BackupReport = {
  entries: ManifestEntry[]
  bytes: number
  files: number
  /** Tables that were written to during the backup, so that a restore cannot check all of their rows. */
  changed: string[]
}

/**
 * Backs up the database of `env` to the file or folder `to` of its server, or of its bucket; with `base`, only what changed since that
 * backup. Never overwrites a backup. Ingest may add blocks during the backup. Rejects with InconsistentBackupError if
 * earlier blocks changed meanwhile; also with BackupError or QueryError.
 */
export async function backup(
  env: BackupEnv,
  { to, base }: { to: string; base?: string | undefined },
): Promise<BackupReport> {
  const database = env.CLICKHOUSE_DATABASE
  const options = { application: 'plumbline-backup', requestTimeoutMs: DAY_MS }
  const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, options)
  const session = connect(
    { ...env, CLICKHOUSE_DATABASE: 'default' },
    { ...options, maxOpenConnections: 1, sessionId: randomUUID() },
  )
  try {
    const stored = await databases(server)
    if (!stored.includes(database))
      throw new BackupError(`there is no database ${database}; the server has ${stored.join(', ')}`)
    const entries = await describeTables(server, database)
    const notInTar = entries.filter(({ engine_name }) => /^(Memory|.*Log)$/.test(engine_name)).map(({ name }) => name)
    if (/\.(tar|tgz|zip)(\.|$)/.test(to) && notInTar.length > 0) {
      throw new BackupError(
        `${notInTar.join(', ')}: ClickHouse cannot restore tables with this engine from an archive; use a name without a file extension`,
      )
    }
    await storeManifest(session, entries)
    const settings = base === undefined ? '' : ` SETTINGS base_backup = ${backupLocation(env, base)}`
    const backedUp = `DATABASE ${quoteName(database)}, TEMPORARY TABLE ${MANIFEST}`
    const size = await runOperation(session, `BACKUP ${backedUp} TO ${backupLocation(env, to)}${settings}`)
    // A table that is the same before and after did not change in between: every change also changes the ledger.
    const changed: ManifestEntry[] = []
    for (const entry of entries.filter(({ is_checked }) => is_checked)) {
      const now = await countRows(server, entry, database)
      if (now.rows !== entry.rows || now.checksum !== entry.checksum) changed.push(entry)
    }
    const namesOf = (tables: ManifestEntry[]): string[] => tables.map(({ name }) => name)
    const inconsistent = changed.filter(describesCommittedBlocks)
    if (inconsistent.length > 0) throw new InconsistentBackupError(to, namesOf(inconsistent))
    return { entries, ...size, changed: namesOf(changed) }
  } finally {
    await Promise.all([server.close(), session.close()])
  }
}
