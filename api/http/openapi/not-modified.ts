import { type ApiDocument, operationsOf } from './document.js'

const DESCRIPTION = 'The answer is the one whose `ETag` the request has in `If-None-Match`; it has no body'

/** Says of the operations of these names that they answer 304 to who has the answer already. */
export function withNotModified(document: ApiDocument, operationIds: ReadonlySet<string>): ApiDocument {
  const responses = { ...document.components.responses, NotModified: { description: DESCRIPTION } }
  document.components.responses = responses
  for (const { operation } of operationsOf(document))
    if (operationIds.has(operation.operationId))
      operation.responses['304'] = { $ref: '#/components/responses/NotModified' }
  return document
}
