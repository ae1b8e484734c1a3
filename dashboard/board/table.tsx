import { bpsText, shortText, tokensOf } from '../parts/figures.js'
import { labelsOf, shortAddress } from '../parts/names.js'
import { place } from '../state/location.js'
import { elsewhere, hrefOf } from '../state/place.js'
import { deviationOf, type ListedStable } from './stables.js'

/** The stables as a table: what the picture shows, in numbers. */
export function StablesTable({ stables }: { stables: readonly ListedStable[] }) {
  const labels = labelsOf(stables)
  return (
    <div class="scrolls">
      <table class="plain">
        <caption class="unseen">Every stable with its distance from the peg</caption>
        <thead>
          <tr>
            <th scope="col">Stable</th>
            <th scope="col" class="number">
              Off peg, bps
            </th>
            <th scope="col" class="number">
              Risk
            </th>
            <th scope="col" class="number">
              Supply
            </th>
            <th scope="col">Coverage</th>
          </tr>
        </thead>
        <tbody>
          {stables.map(({ address, peg, supply, risk_score, coverage }) => {
            const bps = peg?.quoted ? deviationOf(peg.price) : null
            return (
              <tr key={address}>
                <th scope="row">
                  <a href={hrefOf(elsewhere(place.value, 'stable', address))}>
                    <bdi>{labels.get(address)?.text}</bdi>
                  </a>{' '}
                  <span class="mono">{shortAddress(address)}</span>
                </th>
                <td class="number">{bps === null ? 'no quote' : bpsText(bps)}</td>
                <td class="number">{risk_score ?? '–'}</td>
                <td class="number">{supply ? shortText(tokensOf(supply.current)) : '–'}</td>
                <td>{coverage.message}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
