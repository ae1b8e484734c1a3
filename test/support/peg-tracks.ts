import type { ClickHouseClient } from '@clickhouse/client'
import { PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import type { PegSample } from '../../clickhouse/peg/samples.js'
import { detectPegTracks } from '../../jobs/detect/peg-tracks.js'
import { type OracleDepth, pegTrackEvents } from '../../oracle/peg-tracks.js'
import { alone } from './slots.js'

/** The detector's job. */
export const PEG_TRACKS_JOB = {
  job: 'peg-tracks',
  periodSeconds: PERIOD_SECONDS['peg-tracks'],
  pass: detectPegTracks,
  task: alone(detectPegTracks),
}

/** The events about agreed breaks and lost quotes of a market up to `horizon`, the end of a slot. In no particular order. */
export const expectedTracks = (
  samples: readonly PegSample[],
  depths: readonly (OracleDepth & { stable: string })[],
  horizon: number,
) =>
  [...new Set(samples.map(({ stable }) => stable))].flatMap((stable) => {
    const isOwn = (row: { stable: string }): boolean => row.stable === stable
    const events = pegTrackEvents(stable, samples.filter(isOwn), depths.filter(isOwn), horizon)
    return events.map(({ event, data }) => ({ type: event, data }))
  })

/** All rows that the detector has written, without their revision. */
export async function storedTracks(clickhouse: ClickHouseClient): Promise<unknown[]> {
  const read = async (table: string, where = 'true'): Promise<unknown[]> => {
    const query = `SELECT * EXCEPT revision FROM ${table} FINAL WHERE ${where} ORDER BY ALL`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  }
  return [...(await read('peg_breaks', "track = 'agreed'")), ...(await read('peg_track_states'))]
}
