import { useEffect } from 'preact/hooks'
import './stable.css'
import '../parts/blocks.css'
import { API, withQuery } from '../../api/paths.js'
import { viewShortcuts } from '../../parts/keys.js'
import { shortAddress } from '../../parts/names.js'
import { Notice, ProblemNotice, Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { now } from '../../state/clock.js'
import { go, place } from '../../state/location.js'
import { Block } from '../parts/block.js'
import { breakBefore, momentOf, type PegEvents } from './breaks.js'
import { BreaksBlock, MOST_BREAKS } from './breaks-block.js'
import { DepthBlock } from './depth-block.js'
import type { Detail } from './detail.js'
import { ReservesBlock, RewardsBlock, RolesBlock } from './issuer-blocks.js'
import { PegBlock } from './peg-block.js'
import { chooseRange, RANGE_NAMES, rangeOf } from './range.js'
import { RiskBlock } from './risk-block.js'
import { nameOf, StableHead } from './stable-head.js'
import { SupplyBlock } from './supply-block.js'

const DETAIL_SECONDS = 60
const ADDRESS = /^0x[0-9a-f]{40}$/

function Ranges() {
  const current = rangeOf()
  return (
    <fieldset class="choice ranges no-print">
      <legend class="unseen">Range</legend>
      {RANGE_NAMES.map((range) => (
        <button key={range} type="button" aria-pressed={range === current} onClick={() => chooseRange(range)}>
          {range}
        </button>
      ))}
    </fieldset>
  )
}

function Stable({ address }: { address: string }) {
  const { asOf } = place.value
  const refreshSeconds = asOf === null ? DETAIL_SECONDS : undefined
  const detail = useAnswer<Detail>(withQuery(`${API}/stablecoins/${address}`, { as_of: asOf }), { refreshSeconds })
  const breaks = useAnswer<PegEvents>(
    withQuery(`${API}/stablecoins/${address}/peg-events`, { as_of: asOf, limit: MOST_BREAKS }),
    { refreshSeconds },
  )
  const known = detail.value.data
  const about = { address, name: known ? nameOf(known) : shortAddress(address) }
  useEffect(() => {
    if (known) document.title = `${nameOf(known)} – Plumbline`
  }, [known])
  useEffect(() => {
    const back = (): void => {
      const before = breakBefore(breaks.value.data?.events ?? [], place.value.asOf ?? now())
      if (before) go({ asOf: Math.floor(momentOf(before)) })
    }
    viewShortcuts.value = [
      { keys: ['['], does: 'the break before this moment', act: back },
      {
        keys: ['t'],
        does: 'tables behind the pictures',
        act: () => {
          const tables = [...document.querySelectorAll<HTMLDetailsElement>('details.behind')]
          // What came into view since is as closed as it was.
          const isOpen = tables.every(({ open }) => open)
          for (const table of tables) table.open = !isOpen
        },
      },
    ]
    return () => {
      viewShortcuts.value = []
    }
  }, [])
  // All of its parts would say the same.
  if (known === null && detail.value.problem?.kind === 'missing')
    return <ProblemNotice problem={detail.value.problem} />
  return (
    <>
      <Shown answer={detail.value} what="the stable">
        {(data) => <StableHead detail={data} />}
      </Shown>
      <Ranges />
      <div class="blocks">
        <Block title="Price">
          <PegBlock about={about} breaks={breaks} />
        </Block>
        <Block title="Breaks">
          <BreaksBlock breaks={breaks} />
        </Block>
        <Block title="Depth">
          <DepthBlock about={about} />
        </Block>
        <Block title="Supply">
          <SupplyBlock about={about} detail={known} />
        </Block>
        <Block title="Risk">
          <RiskBlock about={about} />
        </Block>
        <Block title="Reserves">
          <ReservesBlock address={address} />
        </Block>
        <Block title="Roles">
          <RolesBlock detail={known} />
        </Block>
        <Block title="Rewards">
          <RewardsBlock address={address} />
        </Block>
      </div>
    </>
  )
}

/** One stable, now or at any moment of the past. */
export function StableView() {
  const { address } = place.value
  if (address === null || !ADDRESS.test(address))
    return <Notice title="There is no such stable">An address is 0x and 40 hexadecimal digits.</Notice>
  return <Stable key={address} address={address} />
}
