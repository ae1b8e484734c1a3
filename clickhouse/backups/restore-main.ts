import { z } from 'zod'
import { ConfigError, parseEnv } from '../../process/environment.js'
import { exitCodeOf } from '../../process/errors.js'
import { clickhouseEnv } from '../store/client.js'
import { inSeconds, readFlags, table } from './operation.js'
import { restore } from './restore.js'

try {
  const { from, as } = readFlags(process.argv.slice(2), ['from', 'as'])
  if (from === undefined) throw new ConfigError(['--from: is required, the name of a backup'])
  const env = parseEnv(z.object(clickhouseEnv), {
    ...process.env,
    ...(as !== undefined && { CLICKHOUSE_DATABASE: as }),
  })
  const startedAt = Date.now()
  const { database, tables } = await restore(env, { from, as })
  const checked = tables.filter((mark) => mark.is_checked)
  console.log(table(checked.map(({ name, found, isRight }) => [name, found.rows, isRight ? 'as it was' : 'DIFFERS'])))
  const dropped = tables.reduce((sum, mark) => sum + Number(mark.dropped), 0)
  if (dropped > 0) console.log(`${dropped} rows of unfinished batches are left out: ingest reads them again`)
  console.log(`${from} is restored into database ${database}, ${inSeconds(Date.now() - startedAt)}`)
  for (const { name, rows, found } of checked.filter((mark) => !mark.isRight)) {
    console.error(
      `${name} has ${found.rows} rows; when the backup began it had ${rows}, or others. It was written to meanwhile, or the backup is damaged.`,
    )
    process.exitCode = 1
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = exitCodeOf(error)
}
