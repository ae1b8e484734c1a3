import { inBytes, inSeconds, readFlags, table } from '../../process/command-line.js'
import { parseEnv } from '../../process/environment.js'
import { runCommand } from '../../process/run-process.js'
import { backup } from './backup.js'
import { BackupEnv } from './operation.js'

await runCommand('backup', async () => {
  const { database, to, base } = readFlags({
    database: { type: 'string' },
    to: { type: 'string' },
    base: { type: 'string' },
  })
  const env = parseEnv(BackupEnv, {
    ...process.env,
    ...(database !== undefined && { CLICKHOUSE_DATABASE: database }),
  })
  const startedAt = Date.now()
  const name = to ?? `${env.CLICKHOUSE_DATABASE}-${new Date(startedAt).toISOString().replace(/[-:]|\.\d+/g, '')}`
  const { entries, bytes, files, changed } = await backup(env, { to: name, base })
  console.log(
    table(entries.filter((entry) => entry.is_checked).map(({ name, rows, checksum }) => [name, rows, checksum])),
  )
  console.log(`${name}: ${inBytes(bytes)} in ${files} files, ${inSeconds(Date.now() - startedAt)}`)
  for (const table of changed) {
    console.log(`${table} was written to during the backup: a restore cannot check all of its rows`)
  }
})
