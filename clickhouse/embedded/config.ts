import { parseArgs } from 'node:util'
import { z } from 'zod'
import { defaultMaxConcurrentQueries } from './threads.js'

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))

/** Paths go into SQL as file names, in which the engine expands these. */
const plainPath = z
  .string({ error: 'is required' })
  .min(1, 'is required')
  .regex(/^[^*?{}[\]'"`\\\n]*$/, 'may not contain any of * ? { } [ ] \\ or quotes')

const Variables = z.object({
  '--data': plainPath,
  '--port': wholeNumber(0, 65_535).default(8123),
  CLICKHOUSE_USER: z.string().min(1, 'may not be empty').default('default'),
  CLICKHOUSE_PASSWORD: z.string().optional(),
  CLICKHOUSE_ALLOW_EMPTY_PASSWORD: z.enum(['0', '1'], { error: 'must be 0 or 1' }).default('0'),
  CLICKHOUSE_MAX_CONCURRENT_QUERIES: wholeNumber(1, 1000).default(defaultMaxConcurrentQueries),
})

export type Config = {
  dataDirectory: string
  port: number
  credentials: { user: string; password: string }
  maxConcurrentQueries: number
}

/** Reads flags and variables. Throws one error that names everything that is wrong with them. */
export function readConfig(args: string[], env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  let flags: { data?: string | undefined; port?: string | undefined } = {}
  try {
    flags = parseArgs({ args, options: { data: { type: 'string' }, port: { type: 'string' } } }).values
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  }
  const port = flags.port ?? (env.CLICKHOUSE_PORT || undefined)
  const parsed = Variables.safeParse({ ...env, '--data': flags.data, '--port': port })
  if (!parsed.success) problems.push(...parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`))
  if (!env.CLICKHOUSE_PASSWORD && env.CLICKHOUSE_ALLOW_EMPTY_PASSWORD !== '1') {
    problems.push('CLICKHOUSE_PASSWORD is required (or set CLICKHOUSE_ALLOW_EMPTY_PASSWORD=1)')
  }
  const values = parsed.data
  if (!values || problems.length > 0) throw new Error(problems.join('; '))
  return {
    dataDirectory: values['--data'],
    port: values['--port'],
    credentials: { user: values.CLICKHOUSE_USER, password: values.CLICKHOUSE_PASSWORD ?? '' },
    maxConcurrentQueries: values.CLICKHOUSE_MAX_CONCURRENT_QUERIES,
  }
}
