import type { PublishedEvent } from '../../../clickhouse/events/types.js'
import { pegPrice, type StoredSample, sampledAt } from '../../../clickhouse/peg/peg-price.js'

/** The name of the messages that have a stable's newest sample. */
export const SAMPLE_TYPE = 'peg_sample'

/** A stable's newest sample; without a price its figures are null. */
export function sampleMessage(stable: string, sample: StoredSample): string {
  const { status, block_number, block_time } = sample
  const { price_vs_refusd = null, spread_bps = null, buy_price = null } = pegPrice(sample) ?? {}
  const sampled_at = sampledAt(block_time)
  return frame(SAMPLE_TYPE, { stable, status, price_vs_refusd, spread_bps, buy_price, block_number, sampled_at })
}

/** An event, with its place in the log as the id from which a client that lost its connection goes on. */
export const eventMessage = (event: PublishedEvent): string => frame(event.event, event, event.sequence)

/** The first message: it gives the client an id to go on from before there is any event, and a time to wait until then. */
export const readyMessage = (sequence: number, retryMs: number): string =>
  `retry: ${retryMs}\n${frame('ready', { sequence }, sequence)}`

/** A whole stream for a client that cannot be served now: it comes back after this time. */
export const notNowMessage = (retryMs: number): string => `: not now\nretry: ${retryMs}\n\n`

/** What clients ignore, and what keeps what lies between from thinking that the connection is dead. */
export const HEARTBEAT = ': still here\n\n'

/** As the HTML standard has server-sent events; JSON has no line breaks of its own. */
function frame(event: string, data: object, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}
