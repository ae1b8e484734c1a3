import { randomUUID } from 'node:crypto'
import { PlumblineError } from '../../process/errors.js'
import { type ClickHouseEnv, connect } from '../store/client.js'
import {
  databases,
  isBehindTip,
  MANIFEST,
  type Mark,
  markRows,
  quoteName,
  storeManifest,
  takeMarks,
} from './manifest.js'
import { BackupError, backupFile, runOperation } from './operation.js'

const DAY_MS = 86_400_000

/** A backup may have facts of a batch and not its row in the ledger, or the other way round. */
class WrittenMeanwhileError extends PlumblineError {
  constructor(to: string, tables: string[]) {
    super(
      `${to} is of no use, remove it: a backfill or a rollback wrote to ${tables.join(', ')} while it was taken. Wait until that has ended, then take a backup under another name`,
      { retryable: true },
    )
  }
}

export type BackupReport = {
  marks: Mark[]
  bytes: number
  files: number
  /** Tables that were written to meanwhile, so that a restore cannot tell whether it has all. */
  changed: string[]
}

/**
 * Takes a backup of the database that `env` names, to the file or folder `to` of its server, on top of the backup `base`
 * if there is one. Never overwrites another. The tip may go on meanwhile; rejects with WrittenMeanwhileError where what
 * is behind it changed, so that the backup is not of one moment. Rejects with BackupError or QueryError too.
 */
export async function backup(
  env: ClickHouseEnv,
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
    const known = await databases(server)
    if (!known.includes(database))
      throw new BackupError(`there is no database ${database}; there are ${known.join(', ')}`)
    const marks = await takeMarks(server, database)
    const notInTar = marks.filter(({ engine_name }) => /^(Memory|.*Log)$/.test(engine_name)).map(({ name }) => name)
    if (/\.(tar|tgz|zip)(\.|$)/.test(to) && notInTar.length > 0) {
      throw new BackupError(
        `${notInTar.join(', ')}: ClickHouse cannot restore tables of this engine from an archive; use a name without an ending`,
      )
    }
    await storeManifest(session, marks)
    const settings = base === undefined ? '' : ` SETTINGS base_backup = ${backupFile(base)}`
    const what = `DATABASE ${quoteName(database)}, TEMPORARY TABLE ${MANIFEST}`
    const size = await runOperation(session, `BACKUP ${what} TO ${backupFile(to)}${settings}`)
    // What is now as it was before was so in between, as the ledger tells of everything that comes and goes.
    const changed: Mark[] = []
    for (const mark of marks.filter(({ is_checked }) => is_checked)) {
      const now = await markRows(server, mark, database)
      if (now.rows !== mark.rows || now.checksum !== mark.checksum) changed.push(mark)
    }
    const namesOf = (tables: Mark[]): string[] => tables.map(({ name }) => name)
    const torn = changed.filter(isBehindTip)
    if (torn.length > 0) throw new WrittenMeanwhileError(to, namesOf(torn))
    return { marks, ...size, changed: namesOf(changed) }
  } finally {
    await Promise.all([server.close(), session.close()])
  }
}
