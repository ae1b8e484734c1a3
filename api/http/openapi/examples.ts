import { readdirSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { type ApiDocument, operationsOf } from './document.js'

/** Real answers: by status, then media type. */
const Answers = z.record(z.string(), z.record(z.string(), z.unknown()))

/** The answers of one operation as they were recorded, by its id. `problems` has those that any route can give. */
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

/** Adds the recorded answers to a document, each to its response. */
export function withExamples(document: ApiDocument, recorded: RecordedAnswers): ApiDocument {
  for (const { operation } of operationsOf(document)) {
    for (const [status, byType] of Object.entries(recorded[operation.operationId] ?? {})) {
      const response = operation.responses[status]
      if (response === undefined || '$ref' in response) continue
      for (const [mediaType, value] of Object.entries(byType)) {
        const content = response.content?.[mediaType]
        if (content) content.examples = { recorded: { value } }
      }
    }
  }
  return document
}
