import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { buildApp } from '../../../../api/app.js'
import { blockAt } from '../../../../clickhouse/chain/blocks.js'
import type { Coverage } from '../../../../clickhouse/chain/coverage.js'
import { detectFlowAnomalies } from '../../../../jobs/detect/flow-anomalies.js'
import { detectPegEvents } from '../../../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../../../jobs/detect/peg-tracks.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { SUBSCRIPTION_KEY } from '../../../support/app.js'
import { backfillAll } from '../../../support/backfill.js'
import { cachedApp } from '../../../support/cached-app.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import { addApiKey } from '../../../support/keys.js'
import { runJobs } from '../../../support/ran-slots.js'
import { test } from '../../../support/services.js'
import { alone, runSlots, slotsOf } from '../../../support/slots.js'

/** The tip begins at a block that can no longer be replaced; the three blocks before it are not read. */
const BLOCKS = 240
const TIP_START = 150
const LAST_BEFORE = TIP_START - 4

const JOBS = [
  {
    job: 'peg-events',
    periodSeconds: 120,
    task: alone(detectPegEvents),
    urls: /\/peg-events(?!.*track)|\/risk\?|types=peg_break/,
  },
  { job: 'peg-tracks', periodSeconds: 120, task: alone(detectPegTracks), urls: /track=agreed/ },
  { job: 'risk', periodSeconds: 300, task: snapshotRisk, urls: /\/risk\/series/ },
  { job: 'reserves', periodSeconds: 3600, task: snapshotReserves, urls: /never/ },
  { job: 'flow-anomalies', periodSeconds: 900, task: alone(detectFlowAnomalies), urls: /anomal/ },
]

type Answer = { status: number; coverage: Coverage }
type App = Awaited<ReturnType<typeof buildApp>>

/** Time in which slots were not run says so, and not that its blocks are missing. */
const NOT_SEARCHED = { from_block: null, to_block: null, reason: 'not_searched' }

const authorization = `Bearer ${SUBSCRIPTION_KEY}`
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

const timeOf = async (clickhouse: ClickHouseClient, block: number): Promise<number> =>
  (await blockAt(clickhouse, block))?.block_time ?? Number.NaN

/** The coverage of an answer: in its body, in the header of an export, in an element of the list, or in a 402. */
async function coverageAt(app: App, url: string, headers = {}): Promise<Answer> {
  const response = await app.inject({ url: `/api/v1/${url}`, headers })
  const header = response.headers['x-coverage']
  if (header !== undefined && !url.includes('format=json'))
    return { status: response.statusCode, coverage: JSON.parse(String(header)) }
  const body = response.json()
  return { status: response.statusCode, coverage: body.coverage ?? body.stablecoins?.at(-1)?.coverage }
}

/** The job whose slots an answer depends on; null if none. Its answers list what that has not searched. */
const jobOf = (url: string) => JOBS.find(({ urls }) => urls.test(url)) ?? null

/** Every route whose answer is about what was measured, for a range that ends at `to` or for `as_of`. */
function urlsOf(stable: string, asOf: string, from: number, to: number) {
  const range = `from=${from}&to=${to}`
  return {
    moments: [
      'stablecoins',
      `stablecoins/${stable}`,
      ...[
        'peg',
        'peg-events',
        'peg-events?track=agreed',
        'risk',
        'reserves',
        'rewards',
        'issuance',
        'holders',
        'depth',
      ].map((what) => `stablecoins/${stable}/${what}`),
      'stablecoins/flows?hours=1',
      'stablecoins/flows?hours=24',
      'stablecoins/flow-anomalies',
      'fee-economics/overview',
    ].map((url) => (asOf === '' ? url : `${url}${url.includes('?') ? '&' : '?'}as_of=${asOf}`)),
    ranges: ['json', 'ndjson', 'csv', 'parquet', 'arrow'].flatMap((format) => [
      ...['peg', 'supply', 'risk'].map((what) => `stablecoins/${stable}/${what}/series?${range}&format=${format}`),
      `stablecoins/flows/export?${range}&format=${format}`,
    ]),
    paid: [`stablecoins/flows/history?${range}`, `stablecoins/flows/export?${range}`],
  }
}

test('ingest stopped for a stretch: every answer, export and 402 lists exactly that stretch, and so does a tail', {
  timeout: 600_000,
}, async ({ clickhouse, clickhouseEnv }) => {
  const chain = await stillChain({ historyBlocks: BLOCKS })
  try {
    await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head, { START_BLOCK: `${TIP_START}` })
    await backfillAll(clickhouseEnv, chain.rpcUrl, ['--from', '1', '--to', `${LAST_BEFORE}`])
    await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
    const [first, before, after, at, end] = (await Promise.all(
      [1, LAST_BEFORE, TIP_START, TIP_START + 1, BLOCKS].map((block) => timeOf(clickhouse, block)),
    )) as [number, number, number, number, number]
    for (const job of JOBS) await runSlots(clickhouse, job, slotsOf(job, at - job.periodSeconds, at))
    const stable = chain.plan.stables[0]?.address.toLowerCase() as string
    const appAt = (now: number) => cachedApp(clickhouse, { now: () => new Date(now * 1000) })
    const hole = (from: number) => ({
      from: iso(Math.max(from, before)),
      to: iso(after),
      from_block: LAST_BEFORE + 1,
      to_block: TIP_START - 1,
      reason: 'not_read',
    })
    /** The first second that each route is about, as of `at`. */
    const fromOf = (url: string): number => (/^stablecoins(\/0x[^/]+)?(\/depth)?\?/.test(url) ? at - 299 : 0)

    /** What is missing of an answer about the time since `from`: the hole, and around it what its job has not searched. */
    const missingOf = (url: string, from: number) => {
      const { periodSeconds = 0 } = jobOf(url) ?? {}
      const begun = (Math.floor(at / periodSeconds) - 1) * periodSeconds
      const gap = (start: number, stop: number) => ({ from: iso(start), to: iso(stop), ...NOT_SEARCHED })
      return [
        ...(Math.min(begun, before) > Math.max(first, from)
          ? [gap(Math.max(first, from), Math.min(begun, before))]
          : []),
        hole(from),
        ...(begun > after ? [gap(after, begun)] : []),
      ]
    }

    const app = await appAt(end)
    const { moments, ranges, paid } = urlsOf(stable, `${at}`, before - 60, at + 1)
    for (const url of moments) {
      const { status, coverage } = await coverageAt(app, url)
      // A balance that lacks a transfer is wrong, so that after a hole there are none.
      const expected = url.includes('/holders') ? 'unavailable' : 'partial'
      expect([url, status, coverage?.status]).toEqual([url, 200, expected])
      expect([url, coverage.missing]).toEqual([url, missingOf(url, fromOf(url))])
      expect([url, coverage.measured_until]).toEqual([url, iso(at)])
    }
    for (const url of [...ranges, ...paid]) {
      const { status, coverage } = await coverageAt(app, url, { authorization })
      expect([url, status, coverage?.missing]).toEqual([url, 200, missingOf(url, before - 60)])
    }
    for (const url of paid) {
      const { status, coverage } = await coverageAt(app, url)
      expect([url, status, coverage?.missing]).toEqual([url, 402, [hole(0)]])
    }
    // Totals say since when; roles come from the catalogue, which has no hole.
    expect((await coverageAt(app, moments.at(-1) as string)).coverage.measured_from).toBe(iso(first))
    const roles = (await coverageAt(app, `stablecoins/${stable}/roles?as_of=${at}`)).coverage
    expect(roles.missing).toEqual([])
    // Outside of the stretch everything is there.
    const whole = await coverageAt(app, `stablecoins/flows/history?from=${after + 1}&to=${end}`, { authorization })
    expect(whole.coverage).toMatchObject({ status: 'complete', missing: [] })
    // What a backfill can still fill is not immutable; then it is filled.
    const cacheControl = async (of: App) =>
      (await of.inject(`/api/v1/stablecoins/${stable}/peg?as_of=${at}`)).headers['cache-control']
    expect(await cacheControl(app)).not.toContain('immutable')
    await backfillAll(clickhouseEnv, chain.rpcUrl)
    await expect
      .poll(async () => (await coverageAt(app, `stablecoins/flows/history?from=${first}&to=${at}`)).coverage.status, {
        // What is stored may be known a second late, as long as the default waits.
        timeout: 10_000,
      })
      .toBe('complete')

    // Its blocks are there, but the slots have to be run again: until then, that time has not been searched.
    const pegEvents = `stablecoins/${stable}/peg-events?as_of=${at}`
    const waiting = (await (await appAt(end)).inject(`/api/v1/${pegEvents}`)).json()
    expect(waiting.coverage.missing).toMatchObject([{ from: iso(first), ...NOT_SEARCHED }])
    expect(waiting.searched_from).toBe(iso((Math.floor(at / 120) - 1) * 120))
    await runJobs(
      clickhouse,
      JOBS.map(({ job }) => job),
    )
    const searched = await appAt(end)
    for (const url of moments.filter((url) => /risk|anomalies|peg-events/.test(url)))
      expect([url, (await coverageAt(searched, url)).coverage.missing]).toEqual([url, []])
    // The first block may be at the end of a slot, by the time of day at which the chain was made.
    expect(Date.parse((await searched.inject(`/api/v1/${pegEvents}`)).json().searched_from)).toBeLessThanOrEqual(
      first * 1000,
    )

    // Ingest has not seen the head for more than a minute: all since then is missing.
    const now = Math.max(end, Math.floor(Date.now() / 1000)) + 100
    const later = await appAt(now)
    const tail = { from: iso(end), to: iso(now), from_block: BLOCKS + 1, to_block: null, reason: 'not_read' }
    const live = urlsOf(stable, '', end - 600, now)
    const events = 'events?types=peg_break.started,peg_break.ended'
    for (const url of [...live.moments, events, `stablecoins/${stable}/analysis`, ...live.ranges, ...live.paid]) {
      const { status, coverage } = await coverageAt(later, url, { authorization })
      const last = coverage?.missing.at(-1)
      expect([url, status, last?.to_block, Date.parse(last?.to ?? '') / 1000 >= now - 1]).toEqual([
        url,
        200,
        null,
        true,
      ])
      // A snapshot, or the window of a state, may begin at another second.
      if (/risk$|reserves|depth|stablecoins(\/0x\w+)?$/.test(url)) continue
      // The newest slot ends before the newest block; what follows it has not been searched, which counts after two periods.
      const { periodSeconds = 1 } = jobOf(url) ?? {}
      // A slot of risk waits for one of the peg events at or after it.
      const reached = jobOf(url)?.job === 'risk' ? Math.floor((end - 1) / 120) * 120 : end - 1
      const newest = Math.floor(reached / periodSeconds) * periodSeconds
      const isLate = jobOf(url) !== null && newest + 2 * periodSeconds < (url.includes('to=') ? now - 1 : now)
      expect([url, coverage.missing]).toEqual([
        url,
        [
          ...(!isLate ? [] : [{ from: iso(newest), to: iso(end), ...NOT_SEARCHED }]),
          { ...tail, to: url.includes('to=') ? iso(now - 1) : tail.to },
        ],
      ])
    }
    for (const url of [...live.paid, `stablecoins/${stable}/analysis`]) {
      const { status, coverage } = await coverageAt(later, url)
      expect([url, status, coverage?.missing[0]?.from]).toEqual([url, 402, tail.from])
    }
    const { datasets } = (await later.inject('/api/v1/status')).json()
    expect(datasets.find(({ dataset }: { dataset: string }) => dataset === 'logs')).toMatchObject({
      lag_blocks: null,
      lag_seconds: now - end,
    })
  } finally {
    await chain.remove()
  }
})
