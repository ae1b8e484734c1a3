import { z } from 'zod'
import { parseEnv } from '../domain/parse-env.js'
import { clickhouseEnv } from './env.js'
import { migrate } from './migrate.js'

try {
  const applied = await migrate(parseEnv(z.object(clickhouseEnv), process.env))
  console.log(applied.length === 0 ? 'schema is up to date' : `applied ${applied.join(', ')}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
