import { z } from 'zod'
import { parseEnv } from '../../process/environment.js'
import { runCommand } from '../../process/run-process.js'
import { retentionEnv } from '../facts/retention.js'
import { clickhouseEnv } from '../store/client.js'
import { migrate } from './migrate.js'

/** Always 1, even if a retry cannot help: deployments expect this exit code from this command. */
const exitCode = () => 1

async function work(): Promise<void> {
  const applied = await migrate(parseEnv(z.object({ ...clickhouseEnv, ...retentionEnv }), process.env))
  console.log(applied.length === 0 ? 'schema is up to date' : `applied ${applied.join(', ')}`)
}

await runCommand('migrate', work, exitCode)
