import { hash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { newestSequence } from '../../../clickhouse/events/log.js'
import { FORMATS, targetProblem } from '../../../clickhouse/webhooks/formats.js'
import type { Holding } from '../../../clickhouse/webhooks/holding.js'
import { isSecretUrl, shownUrl, urlOwner } from '../../../clickhouse/webhooks/secret-urls.js'
import {
  addVersion,
  changeSubscription,
  type RepeatableRequest,
  type Subscription,
  webhookSubscription,
  webhookVersionOfRequest,
} from '../../../clickhouse/webhooks/subscriptions.js'
import { canonicalUrl, urlProblem } from '../../../clickhouse/webhooks/targets.js'
import { subscriptionCounts } from '../../../clickhouse/webhooks/totals.js'
import { BadParameterError } from '../../../process/errors.js'
import { isOpenable, open, seal } from '../../../process/sealed-secret.js'
import { NotFoundError } from '../../http/errors.js'
import { ConflictError } from './errors.js'
import { requireSameBody } from './request-key.js'
import type { ChangedSubscription, NewSubscription } from './subscription-shapes.js'
import type { WebhookTerms } from './terms.js'

/** How long the previous secret keeps signing after a rotation, so that receivers can change over. */
const BOTH_SECRETS_MS = 86_400_000

/** 192 bits, which fill 32 characters of base64 exactly. */
const SECRET_BYTES = 24

const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

const unknownSubscription = (): NotFoundError =>
  new NotFoundError('unknown-webhook', 'there is no webhook subscription with this id', 'id')

/** A subscription, including a deleted one. Throws a 404 for an unknown id. */
export async function requireSubscription(app: FastifyInstance, id: string): Promise<Subscription> {
  const subscription = await webhookSubscription(app.clickhouse, { id })
  if (subscription === null) throw unknownSubscription()
  return subscription
}

type Fields = z.output<typeof ChangedSubscription>

/** Throws a 400 for a URL that is not allowed, or for stables that are not tracked. */
async function requireValid(app: FastifyInstance, { targets }: WebhookTerms, { url, stable_filter }: Fields) {
  const problem = url === undefined ? null : urlProblem(url, targets)
  if (problem !== null) throw new BadParameterError('url', problem)
  const stables = stable_filter ?? []
  const tracked = await Promise.all(stables.map((stable) => app.stables.has(stable)))
  const unknown = stables.filter((_, i) => !tracked[i])
  if (unknown.length > 0)
    throw new BadParameterError(
      'stable_filter',
      `contains addresses that are not tracked stables: ${unknown.join(', ')}`,
    )
}

type Target = Pick<Subscription, 'url' | 'sealed_url' | 'format' | 'chat_id'>

/** Throws a 400 unless a subscription of this format can be sent to this URL. */
function requireTarget(url: string, { format, chat_id }: Pick<Target, 'format' | 'chat_id'>): void {
  const fault = targetProblem(format, { url, chat_id })
  if (fault !== null) throw new BadParameterError(fault.field, fault.problem)
}

/** The stored form of when a subscription gets its events; leaves out what is not given. */
function holdingOf({ quiet_hours, digest_minutes }: Pick<Fields, 'quiet_hours' | 'digest_minutes'>): Partial<Holding> {
  const { from = '', to = '', time_zone = '', critical_passes = false } = quiet_hours ?? {}
  return {
    ...(quiet_hours !== undefined && { quiet_from: from, quiet_to: to, quiet_zone: time_zone, critical_passes }),
    ...(digest_minutes !== undefined && { digest_minutes: digest_minutes ?? 0 }),
  }
}

/** Throws a 400 for events that wait in a format that is grouped and muted by who receives it. */
function requireHoldable({ format, quiet_from, digest_minutes }: Pick<Subscription, 'format'> & Holding): void {
  const { whyNeverHeld } = FORMATS[format]
  if (whyNeverHeld === null || (quiet_from === '' && digest_minutes === 0)) return
  throw new BadParameterError(
    quiet_from === '' ? 'digest_minutes' : 'quiet_hours',
    `must be null with the format ${format}, ${whyNeverHeld}`,
  )
}

/** How a URL is stored: sealed if it is a secret. */
function storedUrl({ secretsKey }: WebhookTerms, id: string, url: string, isSecret: boolean) {
  return isSecret ? { url: shownUrl(url), sealed_url: seal(secretsKey, urlOwner(id), url) } : { url, sealed_url: '' }
}

/** The URL of a subscription; null if SECRETS_KEY was lost. */
function storedTarget({ secretsKey }: WebhookTerms, id: string, { url, sealed_url }: Target): string | null {
  if (sealed_url === '') return url
  return isOpenable(secretsKey, urlOwner(id), sealed_url) ? open(secretsKey, urlOwner(id), sealed_url) : null
}

/**
 * The changes of a subscription's target; none if it stays as it is. A URL that was stored as a secret stays one until
 * another is given: a change of the format must not make it readable.
 */
function changedTarget(
  terms: WebhookTerms,
  id: string,
  before: Target,
  { url: newUrl, ...fields }: Partial<Omit<Target, 'sealed_url'>>,
): Partial<Target> {
  if (newUrl === undefined && Object.keys(fields).length === 0) return {}
  const { format = before.format, chat_id = before.chat_id } = fields
  const currentUrl = storedTarget(terms, id, before)
  // What was shown of a secret URL comes back from callers that write what they have read.
  const url = newUrl === undefined || newUrl === before.url ? currentUrl : canonicalUrl(newUrl)
  if (url === null) throw new BadParameterError('url', 'must be given again: the stored one cannot be decrypted')
  requireTarget(url, { format, chat_id })
  const isSecret = isSecretUrl(url, format) || (url === currentUrl && before.sealed_url !== '')
  const isStored = url === currentUrl && isSecret === (before.sealed_url !== '')
  return { ...(isStored ? {} : storedUrl(terms, id, url, isSecret)), format, chat_id }
}

async function requireRoom(app: FastifyInstance, { mostSubscriptions }: WebhookTerms): Promise<void> {
  const counts = await subscriptionCounts(app.clickhouse)
  const present = counts.filter(({ state }) => state !== 'deleted')
  const total = present.reduce((sum, { subscriptions }) => sum + subscriptions, 0)
  if (total >= mostSubscriptions)
    throw new ConflictError('too-many-webhooks', `the limit of ${mostSubscriptions} subscriptions is reached`)
}

/**
 * Creates a subscription for all events from now on. A repeat of the request creates nothing and returns the result of
 * the first. Throws a problem if it cannot be created.
 */
export async function createSubscription(
  app: FastifyInstance,
  terms: WebhookTerms,
  input: z.output<typeof NewSubscription>,
  request: RepeatableRequest | null,
): Promise<Subscription> {
  await requireValid(app, terms, input)
  requireTarget(input.url, { format: input.format, chat_id: input.chat_id ?? '' })
  const { quiet_hours = null, digest_minutes = null, ...fields } = input
  const holding = { ...NEVER_HELD, ...holdingOf({ quiet_hours, digest_minutes }) }
  requireHoldable({ format: input.format, ...holding })
  for (let tried = 0; ; tried++) {
    const earlier = request && (await webhookVersionOfRequest(app.records, request))
    if (request && earlier) {
      requireSameBody(earlier, request)
      return earlier
    }
    await requireRoom(app, terms)
    // Concurrent repeats of a request derive the same id, so that only one of them creates it. If a crash has used the
    // id up, the next one is taken.
    const suffix =
      request === null ? randomBytes(8).toString('hex') : hash('sha256', `${request.request_key}:${tried}`).slice(0, 16)
    const id = `wh_${suffix}`
    const now = app.now()
    const { format } = input
    const chat_id = input.chat_id ?? ''
    const url = canonicalUrl(input.url)
    const subscription: Subscription = {
      ...fields,
      ...holding,
      ...storedUrl(terms, id, url, isSecretUrl(url, format)),
      chat_id,
      id,
      version: 1,
      stable_filter: input.stable_filter ?? [],
      severity: input.severity ?? '',
      min_bps: input.min_bps ?? 0,
      min_seconds: input.min_seconds ?? 0,
      min_size: input.min_size ?? 0,
      min_severity: input.min_severity ?? '',
      state: 'enabled',
      reason: '',
      secret: seal(terms.secretsKey, id, newSecret()),
      previous_secret: '',
      previous_secret_until: null,
      after_sequence: await newestSequence(app.clickhouse),
      created_at: now,
      changed_at: now,
    }
    if (await addVersion(app.records, subscription, request ?? undefined)) return subscription
  }
}

const NEVER_HELD: Holding = { quiet_from: '', quiet_to: '', quiet_zone: '', critical_passes: false, digest_minutes: 0 }

type Change = (newest: Subscription) => Promise<Partial<Subscription> | null> | Partial<Subscription> | null

/**
 * Changes a subscription by the result of `change`; null changes nothing. Throws a 404 if it does not exist or is
 * deleted.
 */
async function change(
  app: FastifyInstance,
  id: string,
  change: Change,
  request: RepeatableRequest | null = null,
): Promise<Subscription> {
  const changed = await changeSubscription(
    app.records,
    id,
    async (newest) => {
      if (newest.state === 'deleted') throw unknownSubscription()
      const changes = await change(newest)
      return changes && { ...newest, ...changes, changed_at: app.now() }
    },
    request ?? undefined,
  )
  if (changed === null) throw unknownSubscription()
  return changed
}

const withoutAbsent = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof Fields]?: Exclude<Fields[Field], undefined>
  }

/** Changes fields of a subscription, which apply to events that are recorded from then on. */
export async function updateSubscription(app: FastifyInstance, terms: WebhookTerms, id: string, changes: Fields) {
  const { stable_filter, severity, min_bps, min_seconds, min_size, min_severity, ...rest } = changes
  const { url, format, chat_id, quiet_hours, digest_minutes, ...otherFields } = rest
  const earlier = await requireSubscription(app, id)
  // What is shown of a secret URL is not one; `changedTarget` takes it for the stored one.
  const isShown = earlier.sealed_url !== '' && url === earlier.url
  await requireValid(app, terms, { ...changes, url: isShown ? undefined : url })
  const filters = {
    stable_filter: stable_filter === null ? [] : stable_filter,
    severity: severity === null ? ('' as const) : severity,
    min_bps: min_bps === null ? 0 : min_bps,
    min_seconds: min_seconds === null ? 0 : min_seconds,
    min_size: min_size === null ? 0 : min_size,
    min_severity: min_severity === null ? ('' as const) : min_severity,
  }
  const fields = { ...otherFields, ...filters, ...holdingOf({ quiet_hours, digest_minutes }) }
  const target = withoutAbsent({ url, format, chat_id: chat_id === null ? '' : chat_id })
  return change(app, id, (newest) => {
    const wanted = { ...withoutAbsent(fields), ...changedTarget(terms, id, newest, target) }
    requireHoldable({ ...newest, ...wanted })
    return isDeepStrictEqual({ ...newest, ...wanted }, newest) ? null : wanted
  })
}

/** Stops sending to a subscription until it is enabled again. */
export const disableSubscription = (app: FastifyInstance, id: string): Promise<Subscription> =>
  change(app, id, ({ state }) => (state === 'disabled' ? null : { state: 'disabled', reason: 'admin' }))

/** Resumes sending events that are recorded from then on. */
export const enableSubscription = (app: FastifyInstance, id: string): Promise<Subscription> =>
  change(app, id, async ({ state }) =>
    state === 'enabled' ? null : { state: 'enabled', reason: '', after_sequence: await newestSequence(app.clickhouse) },
  )

/** Deletes a subscription; its deliveries can still be read. Deleting it again changes nothing. */
export async function deleteSubscription(app: FastifyInstance, id: string): Promise<Subscription> {
  const changed = await changeSubscription(app.records, id, (newest) =>
    newest.state === 'deleted' ? null : { ...newest, state: 'deleted', reason: '', changed_at: app.now() },
  )
  if (changed === null) throw unknownSubscription()
  return changed
}

/**
 * Gives a subscription a new secret. The previous one keeps signing for a while, older ones stop. A repeat of the
 * request changes nothing and returns the version that the first one created.
 */
export async function rotateSecret(
  app: FastifyInstance,
  { secretsKey }: WebhookTerms,
  id: string,
  request: RepeatableRequest | null,
): Promise<Subscription> {
  let earlier: Subscription | null = null
  const rotated = await change(
    app,
    id,
    async ({ secret }) => {
      if (request !== null) earlier = await webhookVersionOfRequest(app.records, request)
      if (earlier !== null) return null
      // If SECRETS_KEY was lost, the dispatcher could not sign with the old secret.
      const isKept = isOpenable(secretsKey, id, secret)
      return {
        secret: seal(secretsKey, id, newSecret()),
        previous_secret: isKept ? secret : '',
        previous_secret_until: isKept ? new Date(app.now().getTime() + BOTH_SECRETS_MS) : null,
      }
    },
    request,
  )
  return earlier ?? rotated
}
