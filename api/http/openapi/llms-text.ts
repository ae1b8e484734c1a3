import { DOCUMENTS } from '../documents.js'
import { type ApiDocument, type ApiOperation, operationsOf } from './document.js'

/** What the document does not say about the service. */
type Facts = {
  /** In dollars, by operationId. */
  prices: ReadonlyMap<string, string>
  takesPayments: boolean
  /** The tokens that payments are made in, preferred first; null if they are unknown. */
  currencies: readonly string[] | null
  /** null if it is unknown. */
  chainId: number | null
  /** The limit of an address without a key; 0 for none. */
  requestsPerMinute: number
}

/** The query parameters, optional ones with a question mark, with their values if there are few. */
function queryOf({ parameters = [] }: ApiOperation): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required, schema }) => {
      const values = 'enum' in schema && Array.isArray(schema.enum) ? ` (${schema.enum.join(', ')})` : ''
      return `\`${name}\`${required ? '' : '?'}${values}`
    })
  return query.length === 0 ? '' : ` Query: ${query.join(', ')}.`
}

/** How to pay, as far as this service takes payments. */
const payingText = ({ takesPayments, chainId, currencies }: Facts): string[] => {
  const key = '`Authorization: Bearer KEY` with a subscription key replaces the payment.'
  if (!takesPayments) return [`This service takes no payments: ${key}`]
  const on = chainId === null ? '' : ` on chain ${chainId}`
  const stables = currencies?.map((currency) => `\`${currency}\``).join(', ') ?? 'those that the 402 names'
  return [
    `Prices are in dollars, paid${on} in any of these stables, preferred first: ${stables}. Each has 6 decimals and counts as a dollar.`,
    'A request without payment answers 402 with a challenge for each stable in `WWW-Authenticate: Payment …` (Machine Payments',
    'Protocol, https://mpp.dev). `npx mppx URL` pays the first and repeats the request with `Authorization: Payment …`; the answer has a `Payment-Receipt`. What else is wrong with a request is',
    `reported first, and no error is charged for. ${key}`,
  ]
}

const UNITS = [
  '- Exact, as decimal strings: base units, 10^6 to a token (`amount`, `supply`, `cap`, `balance`, `minted`, `burned`, `_raw`); dollars with six digits (`volume_usd`, `inbound_usd`, `outbound_usd`, `observed_usd`, `usd_value`).',
  '- Computed, as numbers: prices (pathUSD for one token), `_tokens` (whole tokens), `_bps` (basis points), any other `_usd`.',
  '- `_usd` counts pathUSD as dollars. `spread_bps` is the distance of a price from 1, not the spread of bid and ask.',
  '- Times are UTC, in RFC 3339 (`2026-07-01T12:00:00Z`), except `current.sampled_at` (`2026-07-01 12:00:00+00`).',
  '- `null` is not measured. `coverage.status` is `complete`, `partial` or `unavailable`, with what is `missing`.',
  '- Lists of events: nothing is missing up to `complete_until`, which is that of the slowest detector of the types asked for.',
  '- `exit_cost_bps` (needs `size`) is below 1.00 pathUSD, without fees; `half_spread_bps` is half of buying minus selling.',
  '- A break is `mild` (over 10 bps for 5 minutes) or `severe` (over 50 for 1); rows that overlap are one episode.',
  '- Flows are trades only; what went out on balance is `outbound_usd` minus `inbound_usd` of a node. For a week, add `hours=24` at fixed `as_of` a day apart.',
  '- An `account` of issuance is the receiver.',
]

const PARAMETERS = [
  '- `as_of`: a point in the past: RFC 3339 timestamp, date, unix seconds, or `30m`, `24h`, `7d` back from now. The future is refused.',
  '- `since` of `/events`: recorded since, not occurred since. For the breaks of a time, ask `/stablecoins/peg-events?from=`.',
  '- `from`, `to`: the same; `from` is included, `to` is not. If omitted: now, and 24 hours before.',
  '- `cursor`: `next_cursor` of the previous page; every format also has it in the header `X-Next-Cursor`.',
  '- Unknown parameters are refused.',
]

/** A page for agents about the whole service, made from its OpenAPI document: https://llmstxt.org. */
export function llmsText(document: ApiDocument, facts: Facts): string {
  const { prices, chainId, requestsPerMinute } = facts
  const lines = (isWanted: (operation: ApiOperation) => boolean): string[] =>
    operationsOf(document)
      .filter(({ operation }) => isWanted(operation))
      .map(({ path, method, operation }) => {
        const price = prices.get(operation.operationId)
        const cost = price === undefined ? '' : ` Costs ${price}.`
        return `- \`${method.toUpperCase()} ${path}\`: ${operation.summary}.${cost}${queryOf(operation)}`
      })
  const isPaid = ({ operationId }: ApiOperation): boolean => prices.has(operationId)
  const isIn =
    (tag: string) =>
    ({ tags }: ApiOperation): boolean =>
      tags.includes(tag)
  const isFree = (operation: ApiOperation): boolean =>
    !isPaid(operation) && !isIn('service')(operation) && !isIn('admin')(operation)
  const limit =
    requestsPerMinute === 0
      ? 'This service sets no limit of requests for an address without a key.'
      : `${requestsPerMinute} requests a minute for an address without a key; a long answer counts as several.`
  return [
    `# ${document.info.title}`,
    '',
    `> ${document.info.description}`,
    '',
    `Start with \`GET /api/v1/stablecoins\`: the other routes take the addresses listed there.${chainId === null ? '' : ` The chain's id is ${chainId}.`}`,
    '',
    '## Documents',
    '',
    '- [OpenAPI 3.1](/openapi.json): every route, parameter, field, error, with examples',
    '- [Reference](/docs): the same to read and try',
    ...Object.entries(DOCUMENTS).map(([name, about]) => `- [${name}](/docs/${name}.md): ${about}`),
    '',
    '## Free routes',
    '',
    ...lines(isFree),
    '',
    '## Paid routes',
    '',
    ...lines(isPaid),
    '',
    ...payingText(facts),
    '',
    '## Units',
    '',
    ...UNITS,
    '',
    '## Parameters',
    '',
    ...PARAMETERS,
    '',
    '## Errors and limits',
    '',
    '- Errors are problem documents (RFC 9457, `application/problem+json`): `type` identifies the kind, `parameter` is the invalid one.',
    `- ${limit} \`RateLimit\` shows what is left. 429 and 503 have \`Retry-After\`.`,
    '',
    '## Service routes',
    '',
    ...lines((operation) => isIn('service')(operation) && !isPaid(operation)),
    '',
    '## Admin routes',
    '',
    'For the operator, with the admin key in `Authorization: Bearer KEY`.',
    '',
    ...lines(isIn('admin')),
    '',
  ].join('\n')
}
