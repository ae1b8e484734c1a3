import { type ApiDocument, type ApiOperation, operationsOf } from './document.js'

/** In whole units of the reference stable, by operationId. */
export type Prices = ReadonlyMap<string, string>

/** The query parameters, optional ones with a question mark, with their values if there are few. */
function queryOf({ parameters = [] }: ApiOperation): string {
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, required, schema }) => {
      const values = 'enum' in schema && Array.isArray(schema.enum) ? ` (${schema.enum.join(', ')})` : ''
      return `\`${name}\`${required ? '' : '?'}${values}`
    })
  return query.length === 0 ? '' : ` Query: ${query.join(', ')}.`
}

/** A page for agents about the whole service, made from its OpenAPI document: https://llmstxt.org. */
export function llmsText(document: ApiDocument, prices: Prices): string {
  const lines = (isWanted: (operation: ApiOperation) => boolean): string[] =>
    operationsOf(document)
      .filter(({ operation }) => isWanted(operation))
      .map(({ path, method, operation }) => {
        const price = prices.get(operation.operationId)
        const cost = price === undefined ? '' : ` Costs ${price}.`
        return `- \`${method.toUpperCase()} ${path}\`: ${operation.summary}.${cost}${queryOf(operation)}`
      })
  const isPaid = ({ operationId }: ApiOperation): boolean => prices.has(operationId)
  const isOfService = ({ tags }: ApiOperation): boolean => tags.includes('service')
  return [
    `# ${document.info.title}`,
    '',
    `> ${document.info.description}`,
    '',
    'Start with `GET /api/v1/stablecoins`: the other routes take the addresses listed there. Unknown parameters are refused.',
    '',
    '- [OpenAPI 3.1](/openapi.json): every route, parameter, field, error, with examples',
    '- [Reference](/docs): the same to read and try',
    '',
    '## Free',
    '',
    ...lines((operation) => !isPaid(operation) && !isOfService(operation)),
    '',
    '## Paid',
    '',
    ...lines(isPaid),
    '',
    'Prices are in the reference stable (pathUSD). A request without payment answers 402 with a challenge in',
    '`WWW-Authenticate: Payment …` (Machine Payments Protocol, https://mpp.dev); a client such as `npx mppx URL` pays it and',
    'repeats the request. Parameters are checked first: a request without an answer is not charged. A subscription key in',
    '`Authorization: Bearer KEY` replaces the payment.',
    '',
    '## Conventions',
    '',
    '- `as_of`: a point in the past: ISO 8601 timestamp or date, unix seconds, or `30m`, `24h`, `7d` back from now.',
    '- `from`, `to`: the same; `from` is included, `to` is not. `flows/history` takes only unix seconds.',
    '- `cursor`: `next_cursor` of the previous page; every format also has it in the header `X-Next-Cursor`.',
    '- Errors are problem documents (RFC 9457, `application/problem+json`); `parameter` is the invalid one. 503 and 429',
    '  have `Retry-After`.',
    '',
    '## Service',
    '',
    ...lines((operation) => isOfService(operation) && !isPaid(operation)),
    '',
  ].join('\n')
}
