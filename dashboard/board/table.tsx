import { bpsText, shortText, tokensOf } from '../parts/figures.js'
import { plainText, shortAddress } from '../parts/names.js'
import { place } from '../state/location.js'
import { elsewhere, hrefOf } from '../state/place.js'
import { openAt } from './breaks.js'
import { togglePin } from './heads.js'
import type { Picture } from './picture.js'
import { sinceText } from './readout.js'
import { bandOf, type Standing } from './stables.js'

function Now({ standing }: { standing: Standing }) {
  if (standing.is !== 'quoted') return <>{standing.is === 'unquoted' ? 'no quote' : '–'}</>
  const side = standing.bps > 0 ? 'above' : 'below'
  return <span class={bandOf(standing.bps) > 0 ? `out ${side}` : undefined}>{bpsText(standing.bps)}</span>
}

/** The same as the picture, in numbers. */
export function StablesTable({ picture }: { picture: Picture }) {
  const { lanes, end } = picture
  const current = place.value
  const absent = picture.hasHistory ? '–' : '…'
  return (
    <section class="scrolls" aria-label="Table of stables">
      <table class="plain">
        <caption class="unseen">
          Every stable: basis points from its peg now and in the last {current.window}, risk, supply, open break and
          coverage
        </caption>
        <thead>
          <tr>
            <th scope="col">Stable</th>
            <th scope="col">Address</th>
            <th scope="col" class="number">
              Now, bps
            </th>
            <th scope="col" class="number">
              Low {current.window}
            </th>
            <th scope="col" class="number">
              High {current.window}
            </th>
            <th scope="col" class="number">
              Worst 24h
            </th>
            <th scope="col" class="number">
              Risk
            </th>
            <th scope="col" class="number">
              Supply
            </th>
            <th scope="col">Break</th>
            <th scope="col">Coverage</th>
            <th scope="col">Pin</th>
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => {
            const { range } = lane
            const { address, name, supply, risk_score, max_deviation_24h_bps, coverage } = lane.stable
            const open = openAt(lane.breaks, end)
            return (
              <tr key={address}>
                <th scope="row">
                  <a href={hrefOf(elsewhere(current, 'stable', address))} title={plainText(name, 60)}>
                    <bdi>{lane.label.text}</bdi>
                  </a>
                </th>
                <td class="mono" title={address}>
                  {shortAddress(address)}
                </td>
                <td class="number">
                  <Now standing={lane.now} />
                </td>
                <td class="number">{range ? bpsText(range.low) : absent}</td>
                <td class="number">{range ? bpsText(range.high) : absent}</td>
                <td class="number">{max_deviation_24h_bps?.toFixed(1) ?? '–'}</td>
                <td class="number">{risk_score?.toFixed(1) ?? '–'}</td>
                <td class="number">{supply ? shortText(tokensOf(supply.current)) : '–'}</td>
                <td>{open ? `${open.severity}, ${sinceText(open, picture)}` : '–'}</td>
                <td>
                  <span class="reason">{coverage.message}</span>
                </td>
                <td>
                  <input
                    type="checkbox"
                    checked={lane.isPinned}
                    aria-label={`Pin ${lane.label.text}`}
                    onChange={() => togglePin(address)}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
