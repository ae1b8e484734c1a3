import { API, withQuery } from '../../api/paths.js'
import { shortText, timeText } from '../../parts/figures.js'
import { plainText, shortAddress } from '../../parts/names.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { place } from '../../state/location.js'
import { type Coverage, Lacking } from '../parts/block.js'
import { Facts } from '../parts/facts.js'
import { Table } from '../parts/tables.js'
import { secondsOf } from './breaks.js'
import type { Detail } from './detail.js'

const REFRESH_SECONDS = 300
const LONGEST_NOTE = 200

type Reserves = {
  market_value_usd: string | number | null
  reserves: readonly {
    reserve_type: string
    backing_usd: string | number | null
    attestation_source: string | null
    attested_at: string | null
    verified_by: string
    notes: { label: string; issuer: string; backing_model: string }
  }[]
  computed_at: string
  coverage: Coverage
}

const usdText = (usd: string | number | null): string => (usd === null ? 'not measured' : `$${shortText(Number(usd))}`)

/** The path of a part of the stable at the moment that is shown, and how often it is asked for. */
function useMoment<Data>(address: string, part: string) {
  const { asOf } = place.value
  return useAnswer<Data>(withQuery(`${API}/stablecoins/${address}/${part}`, { as_of: asOf }), {
    refreshSeconds: asOf === null ? REFRESH_SECONDS : undefined,
  })
}

/** What backs the stable on this chain. */
export function ReservesBlock({ address }: { address: string }) {
  const answer = useMoment<Reserves>(address, 'reserves')
  return (
    <Shown answer={answer.value} what="the reserves">
      {({ market_value_usd, reserves, computed_at, coverage }) => (
        <>
          <Facts
            facts={[
              ['Market value of the supply on this chain', usdText(market_value_usd)],
              ['Computed', timeText(secondsOf(computed_at))],
            ]}
          />
          <Table
            caption="The parts of the reserves"
            columns={[
              { title: 'Reserve' },
              { title: 'Kind' },
              { title: 'Held against it' },
              { title: 'USD', isNumber: true },
              { title: 'Verified' },
              { title: 'Compared' },
              { title: 'Source' },
            ]}
            rows={reserves.map(
              ({ reserve_type, backing_usd, attestation_source, attested_at, verified_by, notes }) => ({
                key: `${reserve_type} ${notes.label}`,
                cells: [
                  plainText(notes.label, LONGEST_NOTE),
                  reserve_type.replaceAll('_', ' '),
                  plainText(notes.backing_model, LONGEST_NOTE).replaceAll('_', ' '),
                  usdText(backing_usd),
                  verified_by === 'service_curated' ? 'by this service' : 'no',
                  attested_at === null ? '–' : timeText(secondsOf(attested_at)),
                  attestation_source?.startsWith('https://') ? (
                    <a key="source" href={attestation_source} target="_blank" rel="noreferrer noopener">
                      issuer’s page
                    </a>
                  ) : (
                    '–'
                  ),
                ],
              }),
            )}
          />
          <Lacking coverage={coverage} />
        </>
      )}
    </Shown>
  )
}

/** Who may do what with the stable. */
export function RolesBlock({ detail }: { detail: Detail | null }) {
  if (!detail) return <p class="empty">Not known yet.</p>
  const { roles, coverage } = detail.role_holders
  const powers = new Map(coverage.roles_tracked.map(({ name, powers }) => [name, powers]))
  return (
    <>
      {roles.length === 0 ? (
        <p class="empty">Nobody holds a role that is tracked.</p>
      ) : (
        <Table
          caption="Holders of roles"
          columns={[{ title: 'Role' }, { title: 'May' }, { title: 'Account' }, { title: 'Since' }]}
          rows={roles.map(({ role, account, granted_at }) => ({
            key: `${role} ${account}`,
            cells: [
              role
                .replace(/_ROLE$/, '')
                .replaceAll('_', ' ')
                .toLowerCase(),
              <span key="may" class="wraps">
                {powers.get(role) ?? '–'}
              </span>,
              <span key="account" class="mono" title={account}>
                {shortAddress(account)}
              </span>,
              granted_at === null ? '–' : timeText(secondsOf(granted_at)),
            ],
          }))}
        />
      )}
      <Lacking coverage={coverage} />
    </>
  )
}

type Rewards = {
  effective_apy_pct?: number | null
  opted_in_tokens?: number | null
  distribution_count: number
  distributed: { last_24h_tokens: number; last_7d_tokens: number; all_time_tokens: number }
  opt_in: { recipient_count: number; distinct_recipients: number; redirected_count: number }
  recent_distributions: readonly {
    funder: string
    amount_tokens: number
    block_timestamp: string
    tx_hash: string
  }[]
  coverage: Coverage
}

/** What holders were paid. */
export function RewardsBlock({ address }: { address: string }) {
  const answer = useMoment<Rewards>(address, 'rewards')
  return (
    <Shown answer={answer.value} what="the rewards">
      {({
        effective_apy_pct,
        opted_in_tokens,
        distribution_count,
        distributed,
        opt_in,
        recent_distributions,
        coverage,
      }) => (
        <>
          <Facts
            facts={[
              typeof effective_apy_pct === 'number' && ['Effective yearly rate', `${effective_apy_pct.toFixed(2)} %`],
              typeof opted_in_tokens === 'number' && ['Tokens that take part', shortText(opted_in_tokens)],
              ['Holders that take part', String(opt_in.recipient_count)],
              ['Distributed in 24 h', shortText(distributed.last_24h_tokens)],
              ['In 7 days', shortText(distributed.last_7d_tokens)],
              ['Since the start', `${shortText(distributed.all_time_tokens)} in ${distribution_count} distributions`],
            ]}
          />
          {recent_distributions.length > 0 && (
            <Table
              caption="The newest distributions"
              columns={[{ title: 'Time' }, { title: 'Tokens', isNumber: true }, { title: 'Paid by' }]}
              rows={recent_distributions.map(({ funder, amount_tokens, block_timestamp, tx_hash }) => ({
                key: `${tx_hash} ${funder} ${amount_tokens}`,
                cells: [
                  timeText(secondsOf(block_timestamp)),
                  shortText(amount_tokens),
                  <span key="funder" class="mono" title={funder}>
                    {shortAddress(funder)}
                  </span>,
                ],
              }))}
            />
          )}
          <Lacking coverage={coverage} />
        </>
      )}
    </Shown>
  )
}
