import { type ApiDocument, type ApiOperation, operationsOf } from './document.js'

/** In whole units of the reference stable, by operationId. */
export type Prices = ReadonlyMap<string, string>

/** The parameters of a query, those that may be left out with a question mark, and the values where there are few. */
function queryOf({ parameters = [] }: ApiOperation): string {
  const query = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, required, schema }) => {
      const values = 'enum' in schema && Array.isArray(schema.enum) ? ` (${schema.enum.join(', ')})` : ''
      return `\`${name}\`${required ? '' : '?'}${values}`
    })
  return query.length === 0 ? '' : ` Query: ${query.join(', ')}.`
}

/** The whole service in a page for agents, out of its OpenAPI document: https://llmstxt.org. */
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
    'Begin with `GET /api/v1/stablecoins`: its addresses go into all other routes. An unknown parameter is refused.',
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
    'asks again. Parameters are checked before: a request that has no answer is not charged. A subscription key in',
    '`Authorization: Bearer KEY` replaces the payment.',
    '',
    '## Conventions',
    '',
    '- `as_of`: a point in the past: ISO 8601 timestamp or date, unix seconds, or `30m`, `24h`, `7d` back from now.',
    '- `from`, `to`: the same; `from` is included, `to` is not. `flows/history` takes unix seconds alone.',
    '- `cursor`: `next_cursor` of the page before; every format has it as the header field `X-Next-Cursor`.',
    '- Errors are problem documents (RFC 9457, `application/problem+json`); `parameter` names what is at fault. 503 and 429',
    '  have `Retry-After`.',
    '',
    '## Service',
    '',
    ...lines((operation) => isOfService(operation) && !isPaid(operation)),
    '',
  ].join('\n')
}
