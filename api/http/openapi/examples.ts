import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { type ApiDocument, operationsOf } from './document.js'

/** Real answers: by status, then media type or, for `payments`, the name of a header field. */
const Answers = z.record(z.string(), z.record(z.string(), z.unknown()))

/**
 * The answers of one operation as they were recorded, by its id. `problems` has those that any route can give, `payments`
 * those of a service that takes payments.
 */
export type RecordedAnswers = Record<string, z.infer<typeof Answers>>

/** The directory of the recorded answers, which `npm run examples` writes. */
export const EXAMPLES_DIR = new URL('./examples/', import.meta.url)

/** Reads the recorded answers, once at start. */
export function recordedAnswers(): RecordedAnswers {
  const files = readdirSync(EXAMPLES_DIR).filter((name) => name.endsWith('.json'))
  return Object.fromEntries(
    files.map((name) => [
      name.replace(/\.json$/, ''),
      Answers.parse(JSON.parse(readFileSync(new URL(name, EXAMPLES_DIR), 'utf8'))),
    ]),
  )
}

/** The header fields of a service that takes payments, by name. */
export const headerExamples = ({ payments = {} }: RecordedAnswers): Record<string, unknown> =>
  Object.fromEntries(
    Object.values(payments).flatMap((answer) => Object.entries(answer).filter(([name]) => !name.includes('/'))),
  )

/** Adds the recorded answers to a document, each to its response. A 402 has two: with payments, and without. */
export function withExamples(document: ApiDocument, recorded: RecordedAnswers): ApiDocument {
  for (const { operation } of operationsOf(document)) {
    for (const [status, byType] of Object.entries(recorded[operation.operationId] ?? {})) {
      const response = operation.responses[status]
      if (response === undefined || '$ref' in response) continue
      for (const [mediaType, value] of Object.entries(byType)) {
        const content = response.content?.[mediaType]
        if (!content) continue
        content.examples = { recorded: { value } }
        const challenged = recorded.payments?.[status]?.[mediaType]
        if (status === '402' && challenged) content.examples.challenged = { value: challenged }
      }
    }
  }
  return document
}
