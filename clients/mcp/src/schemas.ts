import { TOOLS } from './tools.js'

/** The part of JSON Schema that OpenAPI documents of this service use, as far as it is used here. */
type Schema = {
  type?: string | string[]
  description?: string
  examples?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  $ref?: string
}
type Operation = {
  operationId: string
  parameters?: { name: string; required?: boolean; description?: string; schema: Schema }[]
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

/** The part of an OpenAPI document that is used here. */
export type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

type ObjectSchema = {
  type: 'object'
  properties: Record<string, Schema>
  required?: string[]
  [keyword: string]: unknown
}

/** A tool of a service: where its operations are, and what it takes and gives. */
export type Described = {
  path: string
  pathOfAll: string | undefined
  inputSchema: ObjectSchema
  outputSchema: ObjectSchema
}

// An agent reads the list of tools before every question. These lengths keep it below 16 KiB.
const PARAMETER_LENGTH = 84
const FIELD_LENGTH = 52

/** Parameters that several tools have, in fewer words than in the document. */
const PARAMETERS: Readonly<Record<string, string>> = {
  address: 'Address of the stable',
  as_of: 'As of a time of the past: ISO 8601 or unix seconds, or back from now as 30m, 24h or 7d',
  known_at: 'Only what had been published by then; formats of as_of',
  limit: 'Most rows',
  cursor: 'next_cursor of the previous page',
}

/** Fields that many answers have and the server's instructions explain. */
const EXPLAINED = new Set(['address', 'as_of', 'known_at', 'coverage', 'next_cursor', 'published_at', 'revision'])

/** The text up to the last mark before `length`, with an ellipsis if that is not all of it. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.slice(0, length)
  const mark = Math.max(...['. ', '; ', ': ', ', '].map((each) => start.lastIndexOf(each)))
  return `${start.slice(0, mark > length / 3 ? mark : start.lastIndexOf(' '))}…`
}

/** What a schema requires of the type alone, and whatever it is, if it has several. */
function typeOf({ anyOf, type, ...schema }: Schema): Schema {
  if (!anyOf) return { ...schema, ...(type && { type }) }
  const others = anyOf.filter(({ type }) => type !== 'null')
  const [only] = others
  if (!only || others.length > 1 || typeof only.type !== 'string') return {}
  return others.length === anyOf.length ? only : { ...only, type: [only.type, 'null'] }
}

/**
 * The outline of a schema, which allows everything that the schema allows: types, and of objects and of rows the fields, down to
 * `depth` levels.
 */
function outline(schema: Schema, schemas: Record<string, Schema>, depth: number): Schema {
  const { type, properties, items } = typeOf(schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema)
  return {
    ...(type && { type }),
    ...(properties && depth > 0 && { properties: outlines(properties, schemas, () => depth - 1) }),
    ...(items && depth > 0 && { items: outline(items, schemas, depth) }),
  }
}

const outlines = (
  properties: Record<string, Schema>,
  schemas: Record<string, Schema>,
  depthOf: (field: string) => number,
): Record<string, Schema> =>
  Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => [field, outline(schema, schemas, depthOf(field))]),
  )

type Found = { path: string; operation: Operation }

const answerOf = ({ responses }: Operation): Record<string, Schema> =>
  responses['200']?.content?.['application/json']?.schema.properties ?? {}

/** With `ofAll`, a tool takes what either operation takes, and answers what either answers. */
function describe(
  { path, operation }: Found,
  ofAll: Found | undefined,
  parts: readonly string[],
  { components }: Document,
): Described {
  const own = operation.parameters ?? []
  const others = (ofAll?.operation.parameters ?? []).filter(({ name }) => own.every((one) => one.name !== name))
  const parameters = [...own, ...others]
  const given = parameters.map(({ name, description = '', schema: { examples: _, ...schema } }) => [
    name,
    { ...schema, description: PARAMETERS[name] ?? cut(description, PARAMETER_LENGTH) },
  ])
  const required = ofAll ? [] : parameters.filter(({ required }) => required).map(({ name }) => name)
  const properties = { ...answerOf(operation), ...(ofAll && answerOf(ofAll.operation)) }
  const fields = outlines(properties, components.schemas, (field) => (parts.includes(field) ? 1 : 0))
  for (const [field, { description }] of Object.entries(properties))
    if (description && !EXPLAINED.has(field))
      fields[field] = { ...fields[field], description: cut(description, FIELD_LENGTH) }
  return {
    path,
    pathOfAll: ofAll?.path,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(given),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        answer: { type: 'object', properties: fields },
        units: { type: 'string' },
        link: { type: 'string' },
      },
      required: ['answer', 'units', 'link'],
    },
  }
}

/** The tools that a service with this document can answer, by name. */
export function describedTools(document: Document): Map<string, Described> {
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).map((operation) => [operation.operationId, { path, operation }] as const),
    ),
  )
  return new Map(
    Object.entries(TOOLS).flatMap(([name, tool]) => {
      const found = operations.get(tool.operation)
      const ofAll = tool.ofAll && operations.get(tool.ofAll)
      return found ? [[name, describe(found, ofAll, tool.parts, document)]] : []
    }),
  )
}

/** The tools as a server lists them. */
export const listed = (tools: ReadonlyMap<string, Described>) =>
  [...tools].map(([name, { inputSchema, outputSchema }]) => ({
    name,
    title: TOOLS[name]?.title,
    description: TOOLS[name]?.description,
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true },
  }))
