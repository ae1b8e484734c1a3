import { ageText } from '../../parts/figures.js'
import type { Status } from './status-view.js'

/** What the datasets are. */
export const DATASETS: Record<string, string> = {
  logs: 'Transfers, swaps, mints, burns and roles',
  pegs: 'Prices and depth',
  state: 'Supplies, caps and policies',
  'flow-anomalies': 'Flow anomalies',
  'peg-events': 'Breaks of pegs',
  reserves: 'Reserves',
  risk: 'Risk',
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

/** What is not as it should be, a sentence each; empty if nothing is known to be wrong. */
export function troubles({ head, datasets, gaps, invariants, jobs }: Status): string[] {
  const behind = datasets.filter(
    ({ dataset, lag_blocks }) => ['logs', 'pegs', 'state'].includes(dataset) && (lag_blocks ?? 0) > BEHIND_BLOCKS,
  )
  const late = jobs.filter(({ is_late }) => is_late)
  const wrong = invariants?.findings.filter(({ status }) => status === 'mismatch') ?? []
  return [
    head === null && 'The node has not been asked for its newest block yet.',
    ...behind.map(
      ({ dataset, lag_blocks }) => `${DATASETS[dataset]}: ${plural(lag_blocks ?? 0, 'block')} behind the chain.`,
    ),
    gaps.missing_blocks > 0 &&
      `${plural(gaps.missing_blocks, 'block')} between others ${gaps.missing_blocks === 1 ? 'is' : 'are'} missing.`,
    gaps.declared_count > 0 && `${plural(gaps.declared_count, 'range')} of blocks could not be read.`,
    ...late.map(
      ({ job, lag_seconds }) => `The job ${job} is late${lag_seconds === null ? '' : ` by ${ageText(lag_seconds)}`}.`,
    ),
    ...wrong.map(({ what }) => `The check found a mismatch: ${what}.`),
  ].filter((text) => typeof text === 'string')
}
