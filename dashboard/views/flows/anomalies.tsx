import { API, withQuery } from '../../api/paths.js'
import { clockText, shortText, timeText } from '../../parts/figures.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { place } from '../../state/location.js'
import { type Coverage, Lacking } from '../parts/block.js'
import { type Labels, StableLink } from '../parts/stables.js'
import { Table } from '../parts/tables.js'

type Anomaly = {
  from_token: string
  to_token: string
  kind: string
  window_start: string
  window_end: string
  observed_flow_usd: number
  baseline_mean_usd: number
  baseline_stddev_usd: number
  z_score: number
  tx_count: number
  active_mean_usd: number
  silent_windows: number | null
  longest_silence_windows: number | null
}

type Anomalies = { anomalies: readonly Anomaly[]; coverage: Coverage; next_cursor: string | null }

const MOST = 100
/** Shown at first. */
const NEWEST = 10
const REFRESH_SECONDS = 300
const WINDOW_MINUTES = 15

const usd = (value: number): string => `$${shortText(value)}`
const hours = (windows: number): string => `${((windows * WINDOW_MINUTES) / 60).toFixed(1).replace(/\.0$/, '')} h`

/** What was expected, by the rule that found the anomaly. */
function expectedText({
  kind,
  baseline_mean_usd,
  baseline_stddev_usd,
  active_mean_usd,
  longest_silence_windows,
}: Anomaly) {
  if (kind === 'silence' && longest_silence_windows !== null)
    return `a flow: the longest silence of the week before was ${hours(longest_silence_windows)}`
  const usual = `${usd(baseline_mean_usd)} ± ${usd(baseline_stddev_usd)}`
  return kind === 'surge' ? `${usual}; ${usd(active_mean_usd)} when anything flows` : usual
}

/** What came instead. */
function cameText({ kind, observed_flow_usd, tx_count, silent_windows }: Anomaly): string {
  if (kind === 'silence' && silent_windows !== null) return `nothing for ${hours(silent_windows)}`
  return `${usd(observed_flow_usd)} in ${tx_count} transaction${tx_count === 1 ? '' : 's'}`
}

/** Windows in which unusually much or little flowed, newest first, with what was expected and what came. */
export function AnomaliesBlock({ labels }: { labels: Labels }) {
  const { asOf } = place.value
  const answer = useAnswer<Anomalies>(withQuery(`${API}/stablecoins/flow-anomalies`, { as_of: asOf, limit: MOST }), {
    refreshSeconds: asOf === null ? REFRESH_SECONDS : undefined,
  })
  return (
    <Shown answer={answer.value} what="the list of anomalies">
      {({ anomalies, coverage, next_cursor }) => (
        <>
          {anomalies.length === 0 ? (
            <p class="empty">No anomaly was found.</p>
          ) : (
            <Table
              caption="Anomalies, newest first"
              columns={[
                { title: 'Window' },
                { title: 'Flow' },
                { title: 'Kind' },
                { title: 'Came' },
                { title: 'Expected' },
                { title: 'Standard deviations', isNumber: true },
              ]}
              atFirst={NEWEST}
              rows={anomalies.map((anomaly) => ({
                key: `${anomaly.window_start} ${anomaly.from_token} ${anomaly.to_token} ${anomaly.kind}`,
                cells: [
                  `${timeText(Date.parse(anomaly.window_start) / 1000).slice(0, 16)} to ${clockText(Date.parse(anomaly.window_end) / 1000)}`,
                  <span key="flow">
                    <StableLink labels={labels} address={anomaly.from_token} /> →{' '}
                    <StableLink labels={labels} address={anomaly.to_token} />
                  </span>,
                  anomaly.kind,
                  cameText(anomaly),
                  <span key="expected" class="wraps">
                    {expectedText(anomaly)}
                  </span>,
                  anomaly.z_score.toFixed(1).replace('-', '−'),
                ],
              }))}
            />
          )}
          {next_cursor !== null && <p class="empty">These are the newest {MOST}; the API has them all.</p>}
          <Lacking coverage={coverage} />
        </>
      )}
    </Shown>
  )
}
