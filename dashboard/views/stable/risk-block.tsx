import { API, withQuery } from '../../api/paths.js'
import { timeText } from '../../parts/figures.js'
import { SaveMenu } from '../../parts/save-menu.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { place } from '../../state/location.js'
import { Lacking } from '../parts/block.js'
import { Facts } from '../parts/facts.js'
import { Table } from '../parts/tables.js'
import { secondsOf } from './breaks.js'
import type { About } from './files.js'
import { COMPONENTS, inputsOf, type Risk } from './risk.js'

const REFRESH_SECONDS = 300

const Bar = ({ score }: { score: number }) => (
  <span class="score">
    <span class="rail" aria-hidden="true">
      <i style={{ width: `${score}%` }} />
    </span>
    {score.toFixed(1)}
  </span>
)

/** The score of risk, and of what it is made. */
export function RiskBlock({ about }: { about: About }) {
  const { asOf } = place.value
  const answer = useAnswer<Risk>(withQuery(`${API}/stablecoins/${about.address}/risk`, { as_of: asOf }), {
    refreshSeconds: asOf === null ? REFRESH_SECONDS : undefined,
  })
  return (
    <Shown answer={answer.value} what="the risk">
      {(risk) => {
        const { composite, components, computed_at, methodology, inputs, extended, coverage } = risk
        const texts = inputsOf(inputs)
        return (
          <>
            <SaveMenu of="risk" load={async () => (await import('./files.js')).riskFile(about, risk)} />
            <Facts
              facts={[
                ['Composite, 0 to 100: higher is riskier', <Bar key="score" score={composite} />],
                ['Computed', timeText(secondsOf(computed_at))],
                ['Methodology', methodology],
              ]}
            />
            <Table
              caption="The components of the risk, with what they were computed from"
              columns={[{ title: 'Component' }, { title: 'Score' }, { title: 'From' }]}
              rows={COMPONENTS.map(([name, title]) => ({
                key: name,
                cells: [
                  title,
                  <Bar key="score" score={components[name]} />,
                  <span key="from" class="wraps">
                    {texts[name]}
                  </span>,
                ],
              }))}
            />
            <Facts
              facts={[
                ['Extended, 0 to 100: with liquidity and holders', <Bar key="score" score={extended.score} />],
                ['It rests on', extended.message],
              ]}
            />
            <Table
              caption="The components of the extended score, with what would raise each most"
              columns={[{ title: 'Component' }, { title: 'Score' }, { title: 'Weight' }, { title: 'Raised most if' }]}
              rows={extended.components.map(({ name, score, weight, raised_most_by: worse }) => ({
                key: name,
                cells: [
                  name,
                  <Bar key="score" score={score} />,
                  `${(100 * weight).toFixed(0)} %`,
                  <span key="worse" class="wraps">
                    {worse ? `${worse.event}: +${worse.score_change.toFixed(1)} points of the score` : 'nothing'}
                  </span>,
                ],
              }))}
            />
            <Lacking coverage={coverage} />
          </>
        )
      }}
    </Shown>
  )
}
