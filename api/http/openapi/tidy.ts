import type { ApiDocument } from './document.js'

/** Every object in a document, however deep. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  yield value as Record<string, unknown>
  for (const child of Object.values(value)) yield* objectsIn(child)
}

/** Takes out what a format says already, and bounds that every number in JSON has. */
function tidySchema(schema: Record<string, unknown>): void {
  if (schema.type === 'string' && schema.format !== undefined && schema.format !== 'binary') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

/** The first example of a parameter is what a form is filled with, which is no help where it may be left out. */
function tidyParameter(parameter: Record<string, unknown>): void {
  const { required, examples, schema } = parameter
  if (required || typeof examples !== 'object' || examples === null) return
  parameter.schema = { ...(schema as object), examples: Object.values(examples).map(({ value }) => value) }
  delete parameter.examples
}

/** Leaves out of a document what the tools that make it put in, and no reader needs. */
export function tidy(document: ApiDocument): ApiDocument {
  for (const value of objectsIn(document.paths)) {
    if (typeof value.in === 'string' && 'schema' in value) tidyParameter(value)
    if (value.description === 'Default Response') value.description = 'OK'
  }
  for (const value of objectsIn([document.paths, document.components])) tidySchema(value)
  // The type provider defines each named schema twice, as input and as output.
  const text = JSON.stringify(document)
  const { schemas } = document.components
  for (const name in schemas) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name]
  return document
}
