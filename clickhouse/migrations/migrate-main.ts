import { z } from 'zod'
import { parseEnv } from '../../process/environment.js'
import { clickhouseEnv } from '../store/client.js'
import { migrate } from './migrate.js'

try {
  const applied = await migrate(parseEnv(z.object(clickhouseEnv), process.env))
  console.log(applied.length === 0 ? 'schema is up to date' : `applied ${applied.join(', ')}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
