import type { ComponentChildren } from 'preact'
import { API } from '../api/paths.js'
import type { Problem } from '../api/problem.js'
import { type Answered, useAnswer } from '../state/answer.js'
import { ticking } from '../state/clock.js'
import { go, place } from '../state/location.js'
import { ageText } from './figures.js'
import { labelsOf, type Named, shortAddress } from './names.js'

/** A state of the page in words, instead of or above a picture. */
export function Notice({
  title,
  children,
  tone = 'calm',
}: {
  title: string
  children?: ComponentChildren
  tone?: 'calm' | 'amber'
}) {
  return (
    <section class={`notice ${tone}`} role={tone === 'amber' ? 'alert' : 'status'}>
      <h2>{title}</h2>
      <p>{children}</p>
    </section>
  )
}

/** While there is nothing to show yet. */
export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  )
}

/** Something that was not measured: the message of its coverage, verbatim. */
export function NotMeasured({ message }: { message: string }) {
  return <p class="not-measured">{message}</p>
}

const TITLES: Record<Problem['kind'], string> = {
  offline: 'The service cannot be reached',
  limited: 'Too many requests',
  priced: 'This answer has a price',
  'before-history': 'Before the start of history',
  missing: 'There is no such thing',
  forbidden: 'A key is needed',
  unavailable: 'The service cannot answer at the moment',
  invalid: 'The request is not valid',
  broken: 'The service failed',
}

function Retry({ at }: { at: number }) {
  // Read so that it counts down.
  void ticking.value
  const seconds = Math.max(0, Math.ceil((at - Date.now()) / 1000))
  return <> {seconds === 0 ? 'Trying again now.' : `Trying again in ${seconds} s.`}</>
}

/** The chain's own stable, which has its name before the list of stables is loaded. */
const REFERENCE_STABLE = '0x20c0000000000000000000000000000000000000'
const ALTERNATIVES = new Intl.ListFormat('en', { type: 'disjunction' })

/** The stables that a price can be paid with, such as "OUSD, USDC.e, or pathUSD". */
function Currencies({ addresses }: { addresses: readonly string[] }) {
  const answer = useAnswer<{ stablecoins: Named[] }>(`${API}/stablecoins`)
  const labels = labelsOf(answer.value.data?.stablecoins ?? [])
  const nameOf = (address: string): string =>
    address === REFERENCE_STABLE ? 'pathUSD' : (labels.get(address)?.text ?? shortAddress(address))
  return <bdi>{ALTERNATIVES.format(addresses.map(nameOf))}</bdi>
}

/** What an answer costs, and how it can be had. */
function Price({ problem: { price, currencies, isPayable, coverage } }: { problem: Problem }) {
  return (
    <>
      It costs {price} <Currencies addresses={currencies} /> a request, or nothing with a subscription key
      {isPayable ? '' : ', and this service takes no payments'}.{' '}
      <a href="/docs">{isPayable ? 'How to pay' : 'How to use a key'}</a> is in the reference. {coverage}
    </>
  )
}

/** Kinds that are no fault, neither of the reader nor of the service. */
const CALM: readonly Problem['kind'][] = ['priced', 'before-history', 'missing']

/** Why there is no answer, and what can be done about it. */
export function ProblemNotice({ problem }: { problem: Problem }) {
  const { kind, message, requestId, retryAt } = problem
  // Without a moment of the past, what is missing has not been computed so far.
  const isPast = place.value.asOf !== null
  return (
    <Notice
      title={kind === 'before-history' && !isPast ? 'Not computed yet' : TITLES[kind]}
      tone={CALM.includes(kind) ? 'calm' : 'amber'}
    >
      {kind === 'priced' ? <Price problem={problem} /> : sentence(message)}
      {kind === 'before-history' && isPast && (
        <>
          {' '}
          <button type="button" onClick={() => go({ asOf: null })}>
            Back to now
          </button>
        </>
      )}
      {retryAt !== null && <Retry at={retryAt} />}
      {requestId !== null && !CALM.includes(kind) && (
        <span class="request-id">
          {' '}
          Request <code>{requestId}</code>
        </span>
      )}
    </Notice>
  )
}

const sentence = (text: string): string => {
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(capital) ? capital : `${capital}.`
}

/**
 * What an answer shows: its picture as soon as there is one, with its age above it while it cannot be renewed; before
 * that, why there is none.
 */
export function Shown<Data>({
  answer,
  what,
  children,
}: {
  answer: Answered<Data>
  what: string
  children: (data: Data) => ComponentChildren
}) {
  const { data, problem } = answer
  if (data === null) return problem ? <ProblemNotice problem={problem} /> : <Loading what={what} />
  return (
    <>
      <Overdue answer={answer} what={`${what.charAt(0).toUpperCase()}${what.slice(1)}`} />
      {children(data)}
    </>
  )
}

/** Above a picture whose answer cannot be renewed: why, and how old the picture is. */
export function Overdue({ answer: { data, at, problem }, what }: { answer: Answered<unknown>; what: string }) {
  if (problem === null) return null
  const age = at === null ? null : Math.max(0, Math.round(ticking.value - at))
  return (
    <p class="overdue" role="status">
      <strong>{data === null || age === null ? `${what} is missing.` : `${what} is ${ageText(age)} old.`}</strong>{' '}
      {sentence(problem.message)}
      {problem.retryAt !== null && <Retry at={problem.retryAt} />}
      {problem.kind === 'before-history' && (
        <button type="button" onClick={() => go({ asOf: null })}>
          Back to now
        </button>
      )}
      {problem.requestId !== null && (
        <span class="request-id">
          {' '}
          Request <code>{problem.requestId}</code>
        </span>
      )}
    </p>
  )
}
