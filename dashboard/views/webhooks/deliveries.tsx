import { useSignal } from '@preact/signals'
import { withQuery } from '../../api/paths.js'
import { integerText, timeText } from '../../parts/figures.js'
import { plainText } from '../../parts/names.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { Table } from '../parts/tables.js'
import { useAct } from './act.js'
import { adminKey } from './key.js'

type Attempt = {
  attempt: number
  outcome: string
  status: number | null
  error: string | null
  response: string
  started_at: string
  duration_ms: number
}

type Delivery = {
  delivery_id: number
  kind: string
  event: string
  event_id: string
  state: string
  created_at: string
  next_attempt_at: string | null
  attempts: readonly Attempt[]
}

const REFRESH_SECONDS = 10
const MOST = 50
const LONGEST_RESPONSE = 120

const instant = (text: string | null): string => (text === null ? '–' : timeText(Date.parse(text) / 1000))

function attemptText({ outcome, status, error, response, duration_ms }: Attempt): string {
  const answer = response === '' ? '' : `: ${plainText(response, LONGEST_RESPONSE)}`
  return `${outcome}, ${status ?? plainText(error ?? 'no answer', LONGEST_RESPONSE)}${answer} (${integerText(duration_ms)} ms)`
}

const Attempts = ({ attempts }: Pick<Delivery, 'attempts'>) =>
  attempts.length === 0 ? (
    <>none yet</>
  ) : (
    <ol class="attempts">
      {attempts.map((attempt) => (
        <li key={attempt.attempt} value={attempt.attempt}>
          {instant(attempt.started_at)}: {attemptText(attempt)}
        </li>
      ))}
    </ol>
  )

/** The deliveries of a subscription with every attempt, and buttons to test it and to send events again. */
export function Deliveries({ path, types }: { path: string; types: readonly string[] }) {
  const type = useSignal(types[0] ?? '')
  const since = useSignal('1h')
  const isOnlyMissed = useSignal(true)
  const written = useSignal(0)
  const { act, isBusy, outcome } = useAct()
  // Another path asks again: what was just added is in the answer.
  const answer = useAnswer<{ deliveries: readonly Delivery[] }>(
    `${withQuery(`${path}/deliveries`, { limit: MOST })}${written.value > 0 ? `#${written.value}` : ''}`,
    { refreshSeconds: REFRESH_SECONDS, key: adminKey.value ?? undefined },
  )
  const post = async (to: string, body: unknown, describe: (answer: { deliveries?: number }) => string) => {
    await act<{ deliveries?: number }>(to, { method: 'POST', body }, describe)
    written.value += 1
  }
  return (
    <>
      <div class="controls">
        <label>
          Test with
          <select
            value={type.value}
            onChange={({ currentTarget }) => {
              type.value = currentTarget.value
            }}
          >
            {types.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          disabled={isBusy.value}
          onClick={() => void post(`${path}/test`, { event_type: type.value }, () => 'A made-up event is being sent.')}
        >
          Send a test
        </button>
      </div>
      <div class="controls">
        <label>
          Send again what happened since
          <input
            type="text"
            value={since.value}
            onInput={({ currentTarget }) => {
              since.value = currentTarget.value
            }}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={isOnlyMissed.value}
            onChange={({ currentTarget }) => {
              isOnlyMissed.value = currentTarget.checked
            }}
          />
          only what was not delivered
        </label>
        <button
          type="button"
          disabled={isBusy.value || since.value === ''}
          onClick={() =>
            void post(
              `${path}/replay`,
              { since: since.value, only_undelivered: isOnlyMissed.value },
              ({ deliveries = 0 }) => `${deliveries} events are being sent again.`,
            )
          }
        >
          Replay
        </button>
      </div>
      <p role="status" class={outcome.value?.isProblem ? 'overdue' : 'readout-line'}>
        {outcome.value?.text}
      </p>
      <Shown answer={answer.value} what="the list of deliveries">
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p class="empty">Nothing was sent yet.</p>
          ) : (
            <Table
              caption="Deliveries with their attempts, newest first"
              columns={[
                { title: 'Created' },
                { title: 'Event' },
                { title: 'State' },
                { title: 'Attempts' },
                { title: 'Next attempt' },
                { title: 'Again' },
              ]}
              rows={deliveries.map(({ delivery_id, kind, event, state, created_at, next_attempt_at, attempts }) => ({
                key: String(delivery_id),
                cells: [
                  instant(created_at),
                  `${event}${kind === 'event' || kind === event ? '' : ` (${kind})`}`,
                  state,
                  <span key="attempts" class="wraps">
                    <Attempts attempts={attempts} />
                  </span>,
                  instant(next_attempt_at),
                  <button
                    key="again"
                    type="button"
                    disabled={isBusy.value}
                    aria-label={`Replay delivery ${delivery_id}`}
                    onClick={() =>
                      void post(
                        `${path}/deliveries/${delivery_id}/replay`,
                        undefined,
                        () => 'The event is being sent again.',
                      )
                    }
                  >
                    Replay
                  </button>,
                ],
              }))}
            />
          )
        }
      </Shown>
    </>
  )
}
