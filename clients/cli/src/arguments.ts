import { type ParseArgsConfig, parseArgs } from 'node:util'
import { sinceOf } from './instants.js'

export type Severity = 'mild' | 'severe'

type Asked =
  | { name: 'list'; asOf: string | undefined }
  | { name: 'peg'; stable: string; asOf: string | undefined }
  | { name: 'breaks'; stable: string | undefined; since: Date; severity: Severity | undefined }
  | { name: 'watch'; stables: string[] }
  | { name: 'verify'; stable: string; at: string | undefined; rpc: string | undefined; byLogs: boolean }

/** What was asked for, and how. */
export type Command = { name: 'help' } | { name: 'version' } | (Asked & { url: string | undefined; json: boolean })

/** The command line cannot be understood. */
export class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>
type Values = Record<string, string | boolean | undefined>

const text = { type: 'string' } as const
const COMMON: Options = { url: text, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } }

type Form = { options: Options; most: number; read: (given: string[], values: Values, now: Date) => Asked }

const textOf = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

/** The one stable that a command is about. */
function one(given: string[]): string {
  const [stable] = given
  if (stable === undefined || stable === '') throw new UsageError('name a stable: its symbol or its address')
  return stable
}

function severityOf(value: string | undefined): Severity | undefined {
  if (value === undefined || value === 'mild' || value === 'severe') return value
  throw new UsageError('--severity is mild or severe')
}

function since(value: string, now: Date): Date {
  const from = sinceOf(value, now)
  if (from === null)
    throw new UsageError(
      '--since is a time back from now, such as 90m, 12h or 7d, or an instant, such as 2026-07-01T12:00:00Z',
    )
  return from
}

const FORMS: Readonly<Record<string, Form>> = {
  list: {
    options: { 'as-of': text },
    most: 0,
    read: (_, values) => ({ name: 'list', asOf: textOf(values, 'as-of') }),
  },
  peg: {
    options: { 'as-of': text },
    most: 1,
    read: (given, values) => ({ name: 'peg', stable: one(given), asOf: textOf(values, 'as-of') }),
  },
  breaks: {
    options: { since: text, severity: text },
    most: 1,
    read: ([stable], values, now) => ({
      name: 'breaks',
      stable,
      since: since(textOf(values, 'since') ?? '1d', now),
      severity: severityOf(textOf(values, 'severity')),
    }),
  },
  watch: { options: {}, most: Number.POSITIVE_INFINITY, read: (stables) => ({ name: 'watch', stables }) },
  verify: {
    options: { at: text, rpc: text, logs: { type: 'boolean' } },
    most: 1,
    read: (given, values) => ({
      name: 'verify',
      stable: one(given),
      at: textOf(values, 'at'),
      rpc: textOf(values, 'rpc'),
      byLogs: values.logs === true,
    }),
  },
}

/** What the arguments of the program ask for. `now`: what `--since 1d` counts from. Throws UsageError. */
export function commandOf(args: readonly string[], now: Date): Command {
  const [name = 'help', ...rest] = args
  if (name === 'help' || name === '--help' || name === '-h') return { name: 'help' }
  if (name === '--version') return { name: 'version' }
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined
  if (!form) throw new UsageError(`there is no command ${JSON.stringify(name)}`)
  let parsed: { values: Values; positionals: string[] }
  try {
    parsed = parseArgs({ args: rest, options: { ...COMMON, ...form.options }, allowPositionals: true }) as typeof parsed
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
  const { values, positionals } = parsed
  if (values.help) return { name: 'help' }
  if (positionals.length > form.most)
    throw new UsageError(`${name} does not take ${JSON.stringify(positionals[form.most])}`)
  return { ...form.read(positionals, values, now), url: textOf(values, 'url'), json: values.json === true }
}
