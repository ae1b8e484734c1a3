import { API, withQuery } from '../api/paths.js'
import { Shown } from '../parts/states.js'
import { useAnswer } from '../state/answer.js'
import { place } from '../state/location.js'
import type { ListedStable } from './stables.js'
import { StablesTable } from './table.js'

const REFRESH_SECONDS = 60

/** Every stable at a glance. */
export function Board() {
  const { asOf } = place.value
  const answer = useAnswer<{ stablecoins: ListedStable[] }>(withQuery(`${API}/stablecoins`, { as_of: asOf }), {
    refreshSeconds: asOf === null ? REFRESH_SECONDS : undefined,
  })
  return (
    <Shown answer={answer.value} what="the stables">
      {({ stablecoins }) => <StablesTable stables={stablecoins} />}
    </Shown>
  )
}
