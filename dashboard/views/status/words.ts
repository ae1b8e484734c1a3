import type { GetStatusData as Status } from '../../../clients/typescript/src/types.js'
import { ageText, integerText } from '../../parts/figures.js'

/** What the datasets are. */
export const DATASETS: Record<string, string> = {
  logs: 'Transfers, swaps, mints, burns and roles',
  pegs: 'Prices and depth',
  state: 'Supplies, caps and policies',
  transfers: 'Every transfer, for holders',
  'flow-anomalies': 'Flow anomalies',
  holders: 'Balances of holders',
  'peg-events': 'Breaks of pegs',
  'peg-tracks': 'Agreed breaks and lost quotes',
  reserves: 'Reserves',
  risk: 'Risk',
  'unusual-flows': 'Unusual flows',
}

/** Why slots of a job wait. */
export const WAITS: Record<string, string> = {
  history_not_read: 'the history that it needs is not read completely',
  blocks_missing: 'blocks are missing',
  backfill_running: 'a backfill is adding blocks',
}

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

/** Datasets of the chain more blocks behind than this are behind. */
const BEHIND_BLOCKS = 20
/** Blocks come once a minute at the slowest. */
const OLD_SECONDS = 150

/** How far what is read from the chain lags. What is not known is not called well. */
function lags({ at, newest_block, datasets, jobs }: Status): string[] {
  // The other datasets are of jobs, which have states of their own.
  const ofChain = datasets.filter(({ dataset }) => !jobs.some(({ job }) => job === dataset))
  const age = newest_block && (Date.parse(at) - Date.parse(newest_block.block_time)) / 1000
  return [
    ...(age !== null && age > OLD_SECONDS ? [`The newest block that is measured is ${ageText(age)} old.`] : []),
    ...(ofChain.some(({ lag_blocks }) => lag_blocks === null)
      ? ['How far it is behind the chain is not known: the node was not asked for its newest block in the last minute.']
      : []),
    ...ofChain
      .filter(({ lag_blocks }) => (lag_blocks ?? 0) > BEHIND_BLOCKS)
      .map(
        ({ dataset, lag_blocks }) =>
          `${DATASETS[dataset] ?? dataset}: ${plural(lag_blocks ?? 0, 'block')} behind the chain.`,
      ),
  ]
}

/** How far a first start has come. */
function firstStart({ block_number, to_block, eta_seconds }: NonNullable<Status['catalogue']>): string {
  const left = eta_seconds === null ? '' : `; about ${ageText(eta_seconds)} left`
  return `Tokens and orders of the past are read first: block ${integerText(block_number)} of ${integerText(to_block)}${left}.`
}

/** A disk with a smaller free share is nearly full, and a replica that is further behind lags; the alerts have the same limits. */
const [LEAST_FREE_SHARE, LAG_SECONDS] = [0.15, 60]

/** What is wrong with the node. */
const NODE: Record<string, string> = {
  away: 'The node answers no call.',
  limits_rate: 'The node limits the rate of calls; they are sent more slowly.',
  limits_ranges: 'The node limits ranges of logs; smaller ones are asked for.',
  drops_states: 'The node no longer has states that were asked for, so prices of these blocks are missing.',
  late: 'The node answers late.',
  fails: 'The node fails often.',
  unsteady: 'The chain was replaced often, as by nodes on different forks.',
}

function stored({
  least_free_share,
  replica_delay_seconds,
  readonly_tables,
  keeper_answers,
  replicas_away,
}: Status['storage']): string[] {
  return [
    ...(least_free_share !== null && least_free_share < LEAST_FREE_SHARE
      ? [`A disk of the database has ${(100 * least_free_share).toFixed(1)} % left.`]
      : []),
    ...((replica_delay_seconds ?? 0) > LAG_SECONDS
      ? [`The replica that is read is ${ageText(replica_delay_seconds ?? 0)} behind the others.`]
      : []),
    ...((readonly_tables ?? 0) > 0 ? ['The replica that is read accepts no rows.'] : []),
    ...(keeper_answers === false ? ['The Keeper of the replicas does not answer, so nothing is written.'] : []),
    ...((replicas_away ?? 0) > 0
      ? [`${plural(replicas_away ?? 0, 'other replica')} of the database cannot be reached.`]
      : []),
  ]
}

/** What is not as it should be, a sentence each; empty if nothing is known to be wrong. */
export function troubles(status: Status): string[] {
  const { head, node, newest_block, catalogue, gaps, storage, invariants, jobs } = status
  const late = jobs.filter(({ is_late }) => is_late)
  const waiting = jobs.filter(({ waiting_slots }) => waiting_slots > 0)
  const wrong = invariants?.findings.filter(({ status }) => status === 'mismatch') ?? []
  return [
    head === null && 'The node has not been asked for its newest block yet.',
    newest_block === null && 'No block is measured yet.',
    ...(node?.problems ?? []).map((problem) => NODE[problem]),
    catalogue && firstStart(catalogue),
    ...lags(status),
    gaps.missing_blocks > 0 &&
      `${plural(gaps.missing_blocks, 'block')} between others ${gaps.missing_blocks === 1 ? 'is' : 'are'} missing.`,
    gaps.declared_count > 0 && `${plural(gaps.declared_count, 'range')} of blocks could not be read.`,
    ...stored(storage),
    ...late.map(
      ({ job, lag_seconds }) => `The job ${job} is late${lag_seconds === null ? '' : ` by ${ageText(lag_seconds)}`}.`,
    ),
    ...waiting.map(
      ({ job, waiting_reason }) => `The job ${job} waits: ${WAITS[waiting_reason ?? ''] ?? 'no reason is known'}.`,
    ),
    ...wrong.map(({ what }) => `The check found a mismatch: ${what}.`),
  ].filter((text) => typeof text === 'string')
}
