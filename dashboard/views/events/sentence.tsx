import type { ComponentChildren } from 'preact'
import { ageText, shortText } from '../../parts/figures.js'
import { plainText } from '../../parts/names.js'
import { type Labels, StableLink } from '../parts/stables.js'
import type { EventData, LogEvent } from './log.js'

/** What the events of a type are called. */
export const TYPE_NAMES: Record<string, string> = {
  'peg_break.started': 'Break started',
  'peg_break.ended': 'Break ended',
  'agreed_break.started': 'Agreed break started',
  'agreed_break.ended': 'Agreed break ended',
  'peg_quote.lost': 'Quote lost',
  'peg_quote.back': 'Quote back',
  'flow_anomaly.detected': 'Flow anomaly',
  'unusual_flow.detected': 'Unusual flow',
  'system.health_drift': 'Service',
  'event.retracted': 'Taken back',
}

const usd = (value: number | undefined): string => (value === undefined ? 'an unknown sum' : `$${shortText(value)}`)
const far = (bps: number | undefined): string => (bps === undefined ? '' : `, at most ${bps} bps from the peg`)

function health({ component = '', status = '', lag_blocks, lag_seconds }: EventData): string {
  const lag = [
    typeof lag_blocks === 'number' && `${lag_blocks} blocks`,
    typeof lag_seconds === 'number' && ageText(lag_seconds),
  ].filter(Boolean)
  return `${plainText(component, 80)} is ${plainText(status, 30)}${lag.length > 0 ? `, ${lag.join(', ')} behind` : ''}`
}

/** What happened, in words. */
export function Sentence({
  event,
  labels,
}: {
  event: Pick<LogEvent, 'event' | 'data'>
  labels: Labels
}): ComponentChildren {
  const { data } = event
  const stable = (address: string | undefined) =>
    address === undefined ? 'a stable' : <StableLink labels={labels} address={address} />
  switch (event.event) {
    case 'peg_break.started':
    case 'agreed_break.started':
      return (
        <>
          {stable(data.stable)} left its peg: {data.severity}
          {data.thin && ', thin'}
          {far(data.max_deviation_bps)} so far
        </>
      )
    case 'peg_quote.lost':
      return <>nobody quotes {stable(data.stable)}</>
    case 'peg_quote.back':
      return (
        <>
          {stable(data.stable)} is quoted again
          {data.duration_seconds !== undefined && ` after ${ageText(data.duration_seconds)}`}
        </>
      )
    case 'peg_break.ended':
    case 'agreed_break.ended':
      return (
        <>
          {stable(data.stable)} is back
          {data.duration_seconds !== undefined && ` after ${ageText(data.duration_seconds)}`}: {data.severity}
          {data.thin && ', thin'}
          {far(data.max_deviation_bps)}
        </>
      )
    case 'flow_anomaly.detected':
      return (
        <>
          {stable(data.from_token)} → {stable(data.to_token)}: {data.kind ?? 'anomaly'}, {usd(data.observed_flow_usd)}{' '}
          came, {usd(data.baseline_mean_usd)} expected
        </>
      )
    case 'unusual_flow.detected':
      return (
        <>
          {stable(data.from_token)} → {stable(data.to_token)}: unusual {data.kind ?? 'flow'},{' '}
          {usd(data.observed_flow_usd)} came in {data.tx_count ?? 'unknown'} transactions
        </>
      )
    case 'system.health_drift':
      return <>{health(data)}</>
    case 'event.retracted':
      return (
        <>
          {data.reason === 'changed' ? 'It happened otherwise: ' : 'It did not happen: '}
          <s>
            <Sentence event={{ event: data.retracted_event ?? '', data: data.original ?? {} }} labels={labels} />
          </s>
        </>
      )
    default:
      return <>{plainText(event.event, 60)}</>
  }
}
