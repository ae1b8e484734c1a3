import { STATUS_CODES } from 'node:http'
import { PROBLEM_TYPE } from '../problem.js'
import { type ApiDocument, type ApiResponse, operationsOf } from './document.js'
import type { RecordedAnswers } from './examples.js'

/** What any route can answer and is worth naming: a key that is none, and too many requests. */
const NAMED = { 401: 'InvalidKey', 429: 'TooManyRequests' } as const

/** What a route with a price answers while another request has the same payment. */
const IN_USE = { 409: 'PaymentInUse' } as const

/** What any route can answer besides, to requests that hardly anybody makes. */
const OTHERS = 'OtherProblem'

const reference = (name: string): ApiResponse => ({ $ref: `#/components/responses/${name}` })

/**
 * Says for every operation what any route can answer, with one definition for all, and with the recorded answers as
 * examples. A status that an operation describes itself stays as it is.
 */
export function withCommonResponses(document: ApiDocument, problems: RecordedAnswers[string] = {}): ApiDocument {
  const schema = { $ref: '#/components/schemas/Problem' }
  const recorded = (statuses: string[]) =>
    Object.fromEntries(
      statuses.map((status) => [
        STATUS_CODES[status]?.toLowerCase().replaceAll(' ', '-') ?? status,
        { value: problems[status]?.[PROBLEM_TYPE] },
      ]),
    )
  const response = (description: string, statuses: string[]): ApiResponse => ({
    description,
    content: { [PROBLEM_TYPE]: { schema, examples: recorded(statuses.filter((status) => problems[status])) } },
  })
  const others = Object.keys(problems).filter((status) => !(status in NAMED))
  document.components.responses = {
    ...Object.fromEntries(
      Object.entries({ ...NAMED, ...IN_USE }).map(([status, name]) => [
        name,
        response(STATUS_CODES[status] as string, [status]),
      ]),
    ),
    [OTHERS]: response('Any other problem', others),
  }
  for (const { operation } of operationsOf(document)) {
    const own = '402' in operation.responses ? { ...NAMED, ...IN_USE } : NAMED
    for (const [status, name] of Object.entries(own)) operation.responses[status] ??= reference(name)
    operation.responses.default ??= reference(OTHERS)
  }
  return document
}
