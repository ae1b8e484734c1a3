/** The examples of a document, by name. */
type NamedExamples = Record<string, { summary?: string; value: unknown }>

/** A response of an operation; a reference if several share it. */
export type ApiResponse =
  | { $ref: string }
  | {
      description: string
      headers?: Record<string, { $ref: string }>
      content?: Record<string, { schema: object; examples?: NamedExamples }>
    }

type ApiParameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: object }

export type ApiOperation = {
  operationId: string
  summary: string
  description: string
  tags: string[]
  parameters?: ApiParameter[]
  requestBody?: { content: Record<string, { schema: object }> }
  security?: Record<string, string[]>[]
  responses: Record<string, ApiResponse>
}

/** The part of an OpenAPI 3.1 document that is used here. */
export type ApiDocument = {
  info: { title: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, ApiOperation>>
  components: {
    schemas: Record<string, object>
    responses?: Record<string, ApiResponse>
    headers?: Record<string, object>
  }
}

/** Every operation of a document, in its order. */
export const operationsOf = (document: ApiDocument): { path: string; method: string; operation: ApiOperation }[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
