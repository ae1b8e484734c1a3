import type { ApiOperation } from '../../api/http/openapi/document.js'
import { ADMIN_KEY, SUBSCRIPTION_KEY } from './app.js'
import { type Market, SPARE_KEY_ID } from './market.js'
import { USED_KEY, WEBHOOK_IDS } from './market-webhooks.js'

/** A request that gives one of an operation's documented responses. */
export type DocumentedRequest = {
  status: number
  method: string
  url: string
  headers: Record<string, string>
  payload?: string
}

const WITH_ADMIN_KEY = { authorization: `Bearer ${ADMIN_KEY}` }
const WITH_KEY = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }
const NO_STABLE = `0x${'dead'.repeat(10)}`

/** Query strings of operations that need one; each gives status 200. */
function queriesOf(operation: ApiOperation, { start, end }: Market): string[] {
  const range = `from=${end - 6 * 3600}&to=${end}`
  const formats = (query: string) => ['json', 'ndjson', 'csv'].map((format) => `${query}&format=${format}&limit=3`)
  const live = (operation.parameters ?? []).some(({ name }) => name === 'as_of') ? ['', 'as_of=30m'] : ['']
  const known: Record<string, string[]> = {
    getFlowHistory: [range],
    exportFlows: formats(`from=${start}`),
    getPegSeries: formats(range),
    getAllPegSeries: [`${range}&step=1h`],
    getPegWindowSeries: [`${range}&step=1h`],
    getDepthSeries: [`${range}&step=1h`],
    getLiquidity: ['size=25000', 'size=25000&as_of=30m'],
    getLiquiditySeries: [`${range}&step=1h`],
    getRiskSeries: formats(`${range}&interval=5m`),
    getSupplySeries: formats(range),
    listPegEvents: ['limit=3', 'limit=3&as_of=30m'],
    listAllPegEvents: ['limit=3', 'limit=3&as_of=30m'],
    listFlowAnomalies: ['limit=3', 'limit=3&as_of=30m'],
    listFlowScores: ['limit=3', 'limit=3&as_of=30m'],
  }
  return known[operation.operationId] ?? live
}

/** A query string with a mistake, which gives status 400. */
function mistakeIn({ parameters = [] }: ApiOperation): string {
  const names = parameters.map(({ name }) => name)
  if (names.includes('as_of')) return 'as_of=tomorrow'
  if (names.includes('from')) return 'from=soon'
  return 'verbose=true'
}

/** A query string for a time without data, or a stable that does not exist. */
function beforeHistory({ parameters = [] }: ApiOperation): string {
  const names = parameters.map(({ name }) => name)
  if (names.includes('stable')) return `stable=${NO_STABLE}`
  if (names.includes('stables')) return `from=1h&stables=${NO_STABLE}`
  return names.includes('as_of') ? 'as_of=1970-01-02' : 'from=1&to=2'
}

/** Request bodies of the operator: a valid one, one with a mistake, and another one. */
const BODIES: Record<string, { right: object; wrong: object; other?: object }> = {
  createKey: { right: { label: 'A desk' }, wrong: { label: '' } },
  createWebhook: {
    right: { label: 'A pager', url: 'https://hooks.example.com/plumbline', event_types: ['peg_break.started'] },
    wrong: { url: 'https://user@example.com/', event_types: ['peg_break.started'] },
    other: { url: 'https://hooks.example.org/', event_types: ['peg_break.started'] },
  },
  updateWebhook: { right: { label: 'Another pager' }, wrong: { url: 'http://127.0.0.1/' } },
  testWebhook: {
    right: { event_type: 'peg_break.ended' },
    wrong: { event_type: 'peg_break' },
    other: { event_type: 'system.health_drift' },
  },
  replayWebhook: { right: { since: '1h' }, wrong: { since: 'soon' }, other: { since: '2h' } },
}

/** The same for the operator's routes. */
function adminRequests({ path, method, operation }: { path: string; method: string; operation: ApiOperation }) {
  const json = { ...WITH_ADMIN_KEY, 'content-type': 'application/json' }
  const { operationId, requestBody } = operation
  const body = BODIES[operationId]
  if (requestBody && !body) throw new Error(`${operationId}: say here what to send`)
  const webhookId = operationId === 'deleteWebhook' ? WEBHOOK_IDS.toDelete : WEBHOOK_IDS.enabled
  const ownId = path.includes('/webhooks') ? webhookId : SPARE_KEY_ID
  const urlOf = (id: string): string => path.replace('{id}', id).replace('{delivery_id}', '1')
  const request = (status: number, given: Partial<DocumentedRequest> = {}): DocumentedRequest => ({
    status,
    method,
    url: urlOf(ownId),
    headers: requestBody ? json : WITH_ADMIN_KEY,
    ...(requestBody && { payload: JSON.stringify(body?.right) }),
    ...given,
  })
  const mistake: Partial<DocumentedRequest> = requestBody
    ? { payload: JSON.stringify(body?.wrong) }
    : { url: path.includes('{id}') ? urlOf('x'.repeat(101)) : `${path}?limit=0` }
  const repeat = { headers: { ...json, 'idempotency-key': USED_KEY }, payload: JSON.stringify(body?.other) }
  const requests: Record<string, DocumentedRequest> = {
    200: request(200),
    201: request(201),
    202: request(202),
    400: request(400, mistake),
    401: request(401, { headers: { authorization: 'Bearer mistyped' } }),
    403: request(403, { headers: { ...json, ...WITH_KEY } }),
    404: request(404, { url: urlOf('none') }),
    // The limit of subscriptions is reached, or this one is disabled.
    409: request(409, { url: urlOf(WEBHOOK_IDS.disabled) }),
    413: request(413, { payload: JSON.stringify({ label: 'x'.repeat(100_000) }) }),
    415: request(415, { headers: { ...WITH_ADMIN_KEY, 'content-type': 'text/xml' } }),
    422: request(422, repeat),
  }
  return Object.keys(operation.responses).flatMap((status) => requests[status] ?? [])
}

/**
 * Requests for every status that an operation describes itself; a market's API answers each with that status. Several
 * for a status if several stables or formats can be requested. Without 503, which no request can cause.
 */
export function documentedRequests(
  { path, method, operation }: { path: string; method: string; operation: ApiOperation },
  market: Market,
): DocumentedRequest[] {
  const stables = path.includes('{address}') ? market.plan.stables.map(({ address }) => address) : ['']
  const request = (status: number, query: string, address: string, headers = {}): DocumentedRequest => ({
    status,
    method,
    url: `${path.replace('{address}', address.toLowerCase()).replace('{id}', SPARE_KEY_ID)}${query && `?${query}`}`,
    headers,
  })
  if (path.startsWith('/api/admin/')) return adminRequests({ path, method, operation })
  const [some = ''] = stables
  const queries = queriesOf(operation, market)
  const requests: Record<string, () => DocumentedRequest[]> = {
    200: () => stables.flatMap((stable) => queries.map((query) => request(200, query, stable, WITH_KEY))),
    400: () => [request(400, mistakeIn(operation), some)],
    401: () => [request(401, queries[0] ?? '', some, { authorization: 'Bearer mistyped' })],
    402: () => [request(402, queries[0] ?? '', some)],
    404: () => [
      path.includes('{address}')
        ? request(404, queries[0] ?? '', NO_STABLE, WITH_KEY)
        : request(404, beforeHistory(operation), some, WITH_KEY),
    ],
    503: () => [],
  }
  return (
    Object.entries(operation.responses)
      .filter(([status, response]) => status !== 'default' && !('$ref' in response))
      // The stream never ends.
      .filter(([status]) => !(status === '200' && operation.operationId === 'streamEvents'))
      .flatMap(([status]) => {
        const make = requests[status]
        if (!make) throw new Error(`${operation.operationId}: say here how to get a ${status}`)
        return make()
      })
  )
}
