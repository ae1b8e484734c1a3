import { inSeconds, readFlags, table } from '../../process/command-line.js'
import { ConfigError, parseEnv } from '../../process/environment.js'
import { runCommand } from '../../process/run-process.js'
import { BackupEnv } from './operation.js'
import { restore } from './restore.js'

await runCommand('restore', async () => {
  const { from, as } = readFlags({ from: { type: 'string' }, as: { type: 'string' } })
  if (from === undefined) throw new ConfigError(['--from: is required; it is the name of a backup'])
  const env = parseEnv(BackupEnv, {
    ...process.env,
    ...(as !== undefined && { CLICKHOUSE_DATABASE: as }),
  })
  const startedAt = Date.now()
  const { database, tables } = await restore(env, { from, as })
  const checked = tables.filter((entry) => entry.is_checked)
  console.log(
    table(checked.map(({ name, restored, isSame }) => [name, restored.rows, isSame ? 'identical' : 'DIFFERS'])),
  )
  const dropped = tables.reduce((sum, entry) => sum + Number(entry.dropped), 0)
  if (dropped > 0) console.log(`removed ${dropped} rows of unfinished batches, which ingest will read again`)
  console.log(`${from} is restored to database ${database}, ${inSeconds(Date.now() - startedAt)}`)
  const wrong = checked.filter((entry) => !entry.isSame)
  for (const { name, rows, restored } of wrong) {
    console.error(
      `${name} differs: it has ${restored.rows} rows, and had ${rows} when the backup began. Either it was written to during the backup, or the backup is damaged.`,
    )
  }
  return wrong.length === 0 ? 0 : 1
})
