import { z } from 'zod'
import { clickhouseEnv, connect } from '../../clickhouse/store/client.js'
import { type DerivedTable, derivedTables } from '../../clickhouse/tables.js'
import { ConfigError, parseEnv } from '../../process/environment.js'
import { runCommand } from '../../process/run-process.js'
import { rebuild } from './rebuild.js'

/** Time limit for the facts of one day. */
const TIMEOUT_MS = 3_600_000

function readName(args: string[]): DerivedTable {
  const name = derivedTables.find((candidate) => args.length === 1 && candidate === args[0])
  if (!name) throw new ConfigError([`usage: npm run rebuild -- ${derivedTables.join('|')} (stop ingest first)`])
  return name
}

await runCommand('rebuild', async () => {
  const name = readName(process.argv.slice(2))
  const env = parseEnv(z.object(clickhouseEnv), process.env)
  const clickhouse = connect(env, { application: 'plumbline-rebuild', requestTimeoutMs: TIMEOUT_MS })
  try {
    const { days, differing, shown } = await rebuild(clickhouse, name)
    for (const row of shown) console.log(row)
    console.log(`${name}: ${days} days rebuilt, ${differing} rows differed; the new table is in use`)
  } finally {
    await clickhouse.close()
  }
})
