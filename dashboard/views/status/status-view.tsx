import '../parts/blocks.css'
import type { GetStatusData as Status } from '../../../clients/typescript/src/types.js'
import { API } from '../../api/paths.js'
import { ageText, integerText, timeText } from '../../parts/figures.js'
import { plainText } from '../../parts/names.js'
import { Shown } from '../../parts/states.js'
import { useAnswer } from '../../state/answer.js'
import { place } from '../../state/location.js'
import { Block } from '../parts/block.js'
import { Table } from '../parts/tables.js'
import { DATASETS, troubles, WAITS } from './words.js'

const REFRESH_SECONDS = 30
const LONGEST = 200

const instant = (text: string | null): string => (text === null ? 'never' : timeText(Date.parse(text) / 1000))
const age = (seconds: number | null | undefined): string =>
  typeof seconds === 'number' ? ageText(Math.max(0, seconds)) : '–'

function Summary({ status }: { status: Status }) {
  const { at, head, newest_block } = status
  const wrong = troubles(status)
  return (
    <>
      <p class="summary">
        {wrong.length === 0
          ? 'Everything runs, and nothing is known to be missing.'
          : 'Not everything is as it should be.'}
      </p>
      {wrong.length > 0 && (
        <ul class="troubles">
          {wrong.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <p>
        {newest_block
          ? `The newest block that is measured is ${integerText(newest_block.block_number)}, of ${instant(newest_block.block_time)}.`
          : 'No block is measured yet.'}{' '}
        {head &&
          `The newest block of the chain (${plainText(head.tag, 20)}) was ${integerText(head.block_number)} when the node was asked at ${instant(head.seen_at)}.`}{' '}
        As of {instant(at)}.{place.value.asOf !== null && ' The status is that of now, whatever moment the page shows.'}
      </p>
    </>
  )
}

const Datasets = ({ datasets }: Pick<Status, 'datasets'>) => (
  <Table
    caption="What is measured, and how far"
    columns={[
      { title: 'What' },
      { title: 'Complete up to' },
      { title: 'Blocks behind', isNumber: true },
      { title: 'Age', isNumber: true },
      { title: 'Usual delay, 1 h', isNumber: true },
      { title: 'Longest 1 %', isNumber: true },
    ]}
    rows={datasets.map(({ dataset, newest_at, lag_blocks, lag_seconds, delay_1h }) => ({
      key: dataset,
      cells: [
        DATASETS[dataset] ?? plainText(dataset, LONGEST),
        instant(newest_at),
        lag_blocks === null ? 'not known' : integerText(lag_blocks),
        age(lag_seconds),
        age(delay_1h?.p50_seconds),
        age(delay_1h?.p99_seconds),
      ],
    }))}
  />
)

const Gaps = ({ gaps: { missing_blocks, declared_count, declared } }: Pick<Status, 'gaps'>) => (
  <>
    <p>
      {missing_blocks === 0
        ? 'No block is missing between others.'
        : `${integerText(missing_blocks)} blocks are missing between others.`}{' '}
      {declared_count === 0 ? 'No range was given up.' : `${declared_count} ranges could not be read.`}
    </p>
    {declared.length > 0 && (
      <Table
        caption="Ranges that could not be read"
        columns={[
          { title: 'What' },
          { title: 'From block', isNumber: true },
          { title: 'To block', isNumber: true },
          { title: 'Why' },
        ]}
        rows={declared.map(({ dataset, from_block, to_block, reason }) => ({
          key: `${dataset} ${from_block}`,
          cells: [
            DATASETS[dataset] ?? dataset,
            integerText(from_block),
            integerText(to_block),
            plainText(reason, LONGEST),
          ],
        }))}
      />
    )}
  </>
)

function Check({ invariants }: Pick<Status, 'invariants'>) {
  if (!invariants) return <p class="empty">The database has not been checked against the chain yet.</p>
  const { findings, ended_at } = invariants
  const count = (status: string): number => findings.filter((finding) => finding.status === status).length
  return (
    <>
      <p>
        The newest check of the database against the chain ended at {instant(ended_at)}: {count('match')} of{' '}
        {findings.length} match, {count('mismatch')} do not, {count('not checked')} were not checked.
      </p>
      <details class="behind">
        <summary>All findings</summary>
        <Table
          caption="Findings of the newest check"
          columns={[{ title: 'What' }, { title: 'Finding' }, { title: 'Scope' }]}
          rows={findings.map(({ what, status, scope }) => ({
            key: what,
            isMarked: status === 'mismatch',
            cells: [
              plainText(what, LONGEST),
              status,
              <span key="scope" class="wraps">
                {plainText(scope, LONGEST)}
              </span>,
            ],
          }))}
        />
      </details>
    </>
  )
}

const Jobs = ({ jobs }: Pick<Status, 'jobs'>) => (
  <Table
    caption="The jobs, and how far they are"
    columns={[
      { title: 'Job' },
      { title: 'Every' },
      { title: 'State' },
      { title: 'Done up to' },
      { title: 'Last success' },
      { title: 'Runs, 24 h', isNumber: true },
      { title: 'Failed', isNumber: true },
      { title: 'Usual run', isNumber: true },
    ]}
    rows={jobs.map((one) => ({
      key: one.job,
      isMarked: one.is_late,
      cells: [
        one.job,
        ageText(one.period_seconds),
        <span key="state" class="wraps">
          {one.is_late ? `late by ${age(one.lag_seconds)}` : 'on time'}
          {one.catch_up !== null &&
            one.catch_up.due_slots > 1 &&
            `; ${integerText(one.catch_up.due_slots)} slots to do${one.catch_up.eta_seconds === null ? '' : `, ${age(one.catch_up.eta_seconds)} left`}`}
          {one.waiting_slots > 0 &&
            `; ${one.waiting_slots} wait${one.waiting_until ? ` until ${instant(one.waiting_until)}` : ''}: ${WAITS[one.waiting_reason ?? ''] ?? 'no reason is known'}`}
        </span>,
        instant(one.last_slot_at),
        instant(one.last_success_at),
        integerText(one.done_24h),
        integerText(one.failed_24h),
        one.median_ms_24h === null ? '–' : `${integerText(one.median_ms_24h)} ms`,
      ],
    }))}
  />
)

/** What is measured, what is missing and what runs, in words. */
export function StatusView() {
  const answer = useAnswer<Status>(`${API}/status`, { refreshSeconds: REFRESH_SECONDS })
  return (
    <>
      <h1>Status</h1>
      <Shown answer={answer.value} what="the status">
        {(status) => (
          <div class="blocks">
            <div>
              <Summary status={status} />
            </div>
            <Block title="What is measured">
              <Datasets datasets={status.datasets} />
            </Block>
            <Block title="Gaps">
              <Gaps gaps={status.gaps} />
            </Block>
            <Block title="Jobs">
              <Jobs jobs={status.jobs} />
            </Block>
            <Block title="Checks">
              <Check invariants={status.invariants} />
            </Block>
          </div>
        )}
      </Shown>
    </>
  )
}
