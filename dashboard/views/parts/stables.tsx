import { useComputed } from '@preact/signals'
import { API, withQuery } from '../../api/paths.js'
import { labelsOf, type Named, shortAddress } from '../../parts/names.js'
import { useAnswer } from '../../state/answer.js'
import { place } from '../../state/location.js'
import { elsewhere, hrefOf } from '../../state/place.js'

/** All stables at the moment that is shown, and what they are called. Empty until they are known. */
export function useStables() {
  const answer = useAnswer<{ stablecoins: Named[] }>(withQuery(`${API}/stablecoins`, { as_of: place.value.asOf }))
  const stables = useComputed(() => answer.value.data?.stablecoins ?? [])
  const labels = useComputed(() => labelsOf(stables.value))
  return { stables, labels }
}

export type Labels = ReturnType<typeof labelsOf>

/** What a stable is called; one that is not listed has its address only. */
export const labelText = (labels: Labels, address: string): string => labels.get(address)?.text ?? shortAddress(address)

/** The name of a stable as a link to it. */
export function StableLink({ labels, address }: { labels: Labels; address: string }) {
  return (
    <a href={hrefOf(elsewhere(place.value, 'stable', address))} title={address}>
      <bdi>{labelText(labels, address)}</bdi>
    </a>
  )
}
