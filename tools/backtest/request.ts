import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { clickhouseEnv } from '../../clickhouse/store/client.js'
import { Address } from '../../clickhouse/store/values.js'
import { readFlags } from '../../process/command-line.js'
import { parseEnv } from '../../process/environment.js'
import { parseInstant, WEEK_SECONDS } from '../../process/instants.js'
import { DEFAULT_DETECTORS, Detectors } from './detectors.js'
import { DEFAULT_FLOW_DETECTORS, FlowDetectors } from './flow-detectors.js'
import { parseFlowLabels } from './flow-labels.js'
import { parseLabels } from './labels.js'
import { FORMATS } from './report.js'

export const HELP = `npm run backtest -- [--flows] [--from TIME] [--to TIME] [--stable ADDRESS,ADDRESS] [--labels FILE]
                        [--detectors FILE] [--format table|json|csv]

Runs detectors of peg breaks over the stored samples of a range, or detectors of flow anomalies over the stored flows, and
compares what they find with what is known to have happened. Only reads.

  --flows                  flow anomalies instead of peg breaks: labels are CSV with the header
                           from_token,to_token,from,to,multiple, where multiple is the volume by the usual one (0: silence);
                           --stable leaves the edges that begin or end with one of them; only whole 15-minute windows count
  --from TIME              the first second is the one after it (7d). Times are ISO 8601, unix seconds, or back from now: 24h
  --to TIME                the last second (now)
  --stable ADDRESS,...     stables (all that had a price)
  --labels FILE            what happened, as CSV with the header stable,from,to,bps; bps is empty if there was no quote.
                           Without it, there is no precision and no recall
  --detectors FILE         the detectors to compare, as JSON (pegs: the published tracks, each beside one that is harder to
                           deceive; flows: what is announced by the rules z and robust, z alone and q)
  --format FORMAT          table (default); json, which has every event; csv
`

const text = { type: 'string' } as const
const OPTIONS = {
  flows: { type: 'boolean' },
  from: text,
  to: text,
  stable: text,
  labels: text,
  detectors: text,
  format: text,
  help: { type: 'boolean' },
} as const

const time = (name: string, now: Date) =>
  z.string().transform((value, context) => {
    try {
      return Math.floor(parseInstant(name, value, now).getTime() / 1000)
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message : String(error))
      return z.NEVER
    }
  })

/** The contents of a file that a flag names. */
const file = z.string().transform((path, context) => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    context.addIssue(`the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return z.NEVER
  }
})

const json = file.transform((content, context) => {
  try {
    return JSON.parse(content) as unknown
  } catch (error) {
    context.addIssue(`is not JSON: ${(error as Error).message}`)
    return z.NEVER
  }
})

/** The flags and variables that both kinds of backtest have. */
const commonOf = (now: Date) => ({
  ...clickhouseEnv,
  '--from': time('--from', now).default(Math.floor(now.getTime() / 1000) - WEEK_SECONDS),
  '--to': time('--to', now).default(Math.floor(now.getTime() / 1000)),
  '--stable': z
    .string()
    .transform((list) => list.split(','))
    .pipe(z.array(Address))
    .optional(),
  '--labels': file.optional(),
  '--format': z.enum(FORMATS).default('table'),
})
type Common = z.output<z.ZodObject<ReturnType<typeof commonOf>>>

const isOrdered = (settings: Common): boolean => settings['--from'] < settings['--to']
const NOT_ORDERED = { path: ['--from'], error: 'must be before --to' }

const pegSettingsOf = (now: Date) =>
  z
    .object({ ...commonOf(now), '--detectors': json.pipe(Detectors).default([...DEFAULT_DETECTORS]) })
    .refine(isOrdered, NOT_ORDERED)

const flowSettingsOf = (now: Date) =>
  z
    .object({ ...commonOf(now), '--detectors': json.pipe(FlowDetectors).default([...DEFAULT_FLOW_DETECTORS]) })
    .refine(isOrdered, NOT_ORDERED)

/** A request of a kind, given what it parsed to. */
const requestOf = <Detector, Label>(
  settings: Common & { '--detectors': Detector[] },
  labelsOf: (text: string) => Label[],
) => ({
  settings,
  range: { from: settings['--from'], to: settings['--to'] },
  stables: settings['--stable'] ?? null,
  labels: settings['--labels'] === undefined ? null : labelsOf(settings['--labels']),
  detectors: settings['--detectors'],
  format: settings['--format'],
})

/**
 * The command line and the environment. Throws ConfigError naming every bad flag, variable, detector and label; null if help
 * is wanted.
 */
export function parseRequest(args: string[], env: Record<string, string | undefined>, now: Date) {
  const { help = false, flows = false, ...values } = readFlags(OPTIONS, args)
  if (help) return null
  const settings = {
    ...env,
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`--${name}`, value])),
  }
  return flows
    ? { kind: 'flows' as const, ...requestOf(parseEnv(flowSettingsOf(now), settings), parseFlowLabels) }
    : { kind: 'pegs' as const, ...requestOf(parseEnv(pegSettingsOf(now), settings), parseLabels) }
}
export type Request = NonNullable<ReturnType<typeof parseRequest>>
