import type { z } from 'zod'

/** A parameter of a request, or a field of its body, and what is wrong with it. */
export type ParameterFault = { parameter: string; detail: string }

/** Types with a length, and the unit of the length: singular and plural. */
const COUNTED: Record<string, readonly [string, string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
}

const TYPES: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function bound(origin: string, word: string, limit: number | bigint): string {
  const unit = COUNTED[origin]?.[Number(limit) === 1 ? 0 : 1]
  return unit === undefined ? `must be ${word} ${limit}` : `must have ${word} ${limit} ${unit}`
}

/** Describes zod's issues in words, for parse's `error`. A schema's own message takes precedence. */
export const detailOf: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing'
      if (Array.isArray(issue.input)) return 'must be one value, not several'
      return `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'unrecognized_keys':
      return 'is not supported'
    default:
      return 'is not valid'
  }
}

/** The faults by parameter; `part` stands for the whole if no field of it is at fault. */
export function faultsOf({ issues }: z.core.$ZodError, part: string): ParameterFault[] {
  const expected = part === 'body' ? 'field of this request' : 'parameter of this route'
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((parameter) => ({ parameter, detail: `is not a ${expected}` }))
    return [{ parameter: String(issue.path[0] ?? part), detail: issue.message }]
  })
}
