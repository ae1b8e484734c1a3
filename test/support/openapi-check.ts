import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type ApiDocument, type ApiOperation, operationsOf } from '../../api/http/openapi/document.js'
import { PROBLEM_TYPE } from '../../api/http/problem.js'

type Answer = { status: number; contentType: string; body: string }

const pointer = (...parts: string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')

const mediaTypeOf = (contentType: string): string => contentType.split(';', 1)[0] as string

/** Checks answers against an OpenAPI document with an independent validator. */
export function answerChecker(document: ApiDocument) {
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: 'openapi' })
  const places = new Map(operationsOf(document).map(({ path, method, operation }) => [operation, { path, method }]))

  /** The errors of a value by the schema at a pointer, or null. */
  function fault(value: unknown, schemaPointer: string): string | null {
    const validate = ajv.getSchema(`openapi#${schemaPointer}`)
    if (!validate) return `there is no schema at ${schemaPointer}`
    return validate(value) ? null : ajv.errorsText(validate.errors)
  }

  /** The errors of an answer that must be a problem document with its status. */
  function faultOfProblem({ status, contentType, body }: Answer): string | null {
    if (mediaTypeOf(contentType) !== PROBLEM_TYPE) return `a ${status} is ${contentType || 'of no type'}`
    const problem = JSON.parse(body) as { status?: unknown }
    if (problem.status !== status) return `a ${status} says that it is ${problem.status}`
    return fault(problem, pointer('components', 'schemas', 'Problem'))
  }

  return {
    faultOfProblem,
    /** The errors of an operation's answer, or null if the document allows it. */
    faultOf(operation: ApiOperation, answer: Answer): string | null {
      if (answer.status >= 400) {
        const isDescribed = operation.responses[answer.status] ?? operation.responses.default
        return isDescribed ? faultOfProblem(answer) : `a ${answer.status} is not described`
      }
      const { path, method } = places.get(operation) ?? { path: '', method: '' }
      const mediaType = mediaTypeOf(answer.contentType)
      const value = /[/+]json$/.test(mediaType) ? (JSON.parse(answer.body) as unknown) : answer.body
      return fault(
        value,
        pointer('paths', path, method, 'responses', `${answer.status}`, 'content', mediaType, 'schema'),
      )
    },
  }
}
