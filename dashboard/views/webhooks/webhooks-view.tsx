import '../parts/blocks.css'
import './webhooks.css'
import { ageText, timeText } from '../../parts/figures.js'
import { plainText } from '../../parts/names.js'
import { Notice, Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { now } from '../../state/clock.js'
import { place } from '../../state/location.js'
import { hrefOf } from '../../state/place.js'
import { Facts } from '../parts/facts.js'
import { Table } from '../parts/tables.js'
import { Deliveries } from './deliveries.js'
import { adminKey, KeyForm } from './key.js'

type QuietHours = { from: string; to: string; time_zone: string; critical_passes: boolean }

type Subscription = {
  id: string
  label: string | null
  url: string
  event_types: readonly string[]
  stable_filter: readonly string[] | null
  severity: string | null
  min_bps: number | null
  min_seconds: number | null
  min_size: number | null
  min_severity: string | null
  format: string
  quiet_hours: QuietHours | null
  digest_minutes: number | null
  state: string
  reason: string | null
}

type Health = {
  last_success_at: string | null
  failing_since: string | null
  attempts_24h: number
  successes_24h: number
  pending: number
}

const WEBHOOKS = '/api/admin/webhooks'
const REFRESH_SECONDS = 30
const LONGEST_URL = 120
const LONGEST_LABEL = 60

const since = (text: string): string => {
  const at = Date.parse(text) / 1000
  return `${timeText(at)}, ${ageText(Math.max(0, now() - at))} ago`
}

/** Which peg breaks a subscription gets, in words. */
function breaksText({
  severity,
  min_bps,
  min_seconds,
  min_size,
}: Pick<Subscription, 'severity' | 'min_bps' | 'min_seconds' | 'min_size'>): string {
  const limits = [
    min_bps !== null && `at least ${min_bps} bps`,
    min_seconds !== null && `at least ${min_seconds} s`,
    min_size !== null && `standing for at least ${min_size} tokens`,
  ]
  return [severity, ...limits].filter(Boolean).join(', ') || 'all'
}

/** When a subscription gets its events, in words. */
function timesText({
  quiet_hours: quiet,
  digest_minutes,
}: Pick<Subscription, 'quiet_hours' | 'digest_minutes'>): string {
  const limits = [
    digest_minutes !== null && `a digest every ${digest_minutes} min`,
    quiet !== null && `not from ${quiet.from} to ${quiet.to} (${plainText(quiet.time_zone, LONGEST_URL)})`,
    quiet?.critical_passes === true && 'critical events at once',
  ]
  return limits.filter(Boolean).join(', ') || 'at once'
}

function One({ id }: { id: string }) {
  const path = `${WEBHOOKS}/${encodeURIComponent(id)}`
  const answer = useAnswer<Subscription & { health: Health }>(path, {
    refreshSeconds: REFRESH_SECONDS,
    key: adminKey.value ?? undefined,
  })
  return (
    <Shown answer={answer.value} what="the subscription">
      {({ label, url, format, event_types, stable_filter, min_severity, state, reason, health, ...limits }) => (
        <>
          <h2>{plainText(label ?? '', LONGEST_LABEL) || id}</h2>
          <Facts
            facts={[
              ['Receiver', <code key="url">{plainText(url, LONGEST_URL)}</code>],
              ['Format', format],
              ['State', reason === null ? state : `${state} (${reason})`],
              ['Events', event_types.join(', ')],
              ['Stables', stable_filter === null ? 'all' : String(stable_filter.length)],
              ['Severity', min_severity === null ? 'any' : `${min_severity} and above`],
              ['Breaks', breaksText(limits)],
              ['Sent', timesText(limits)],
              ['Last success', health.last_success_at === null ? 'never' : since(health.last_success_at)],
              health.failing_since !== null && ['Failing since', since(health.failing_since)],
              ['Attempts in 24 h', `${health.successes_24h} of ${health.attempts_24h} succeeded`],
              ['Pending', String(health.pending)],
            ]}
          />
          <Deliveries path={path} types={event_types} />
        </>
      )}
    </Shown>
  )
}

function Subscriptions() {
  const current = place.value.more.webhook
  const answer = useAnswer<{ webhooks: readonly Subscription[] }>(WEBHOOKS, {
    refreshSeconds: REFRESH_SECONDS,
    key: adminKey.value ?? undefined,
  })
  return (
    <>
      <Shown answer={answer.value} what="the subscriptions">
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Notice title="No subscriptions">
              <a href="/docs/webhooks">Receiving webhooks</a> shows how to create one.
            </Notice>
          ) : (
            <Table
              caption="Subscriptions"
              columns={[{ title: 'Subscription' }, { title: 'Receiver' }, { title: 'Events' }, { title: 'State' }]}
              rows={webhooks.map(({ id, label, url, event_types, state, reason }) => ({
                key: id,
                isMarked: id === current,
                cells: [
                  <a key="link" href={hrefOf({ ...place.value, more: { webhook: id } })}>
                    {plainText(label ?? '', LONGEST_LABEL) || id}
                  </a>,
                  <code key="url">{plainText(url, LONGEST_URL)}</code>,
                  <span key="events" class="wraps">
                    {event_types.join(', ')}
                  </span>,
                  reason === null ? state : `${state} (${reason})`,
                ],
              }))}
            />
          )
        }
      </Shown>
      {current !== undefined && (
        <section class="one" aria-label="The subscription">
          <One key={current} id={current} />
        </section>
      )}
    </>
  )
}

/** Subscriptions, what was sent to them, tests and replays; for the owner of the admin key. */
export function WebhooksView() {
  return (
    <>
      <h1>Webhooks</h1>
      <KeyForm />
      {adminKey.value === null ? (
        <Notice title="For the operator">
          Subscriptions are shown to whoever has the admin key. It is sent to this service only, and is kept in no
          storage and in no URL. <a href="/docs/webhooks">Receiving webhooks</a> is for those who write a receiver.
        </Notice>
      ) : (
        <Subscriptions />
      )}
    </>
  )
}
