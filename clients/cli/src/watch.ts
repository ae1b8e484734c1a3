import type { Client, PegSample, StreamMessage } from '../../typescript/src/client.js'
import type { Output } from './output.js'
import { addressOf, type Stable, trackedStables } from './stables.js'
import {
  cut,
  duration,
  printable,
  printableJson,
  sampleTime,
  shownDeviation,
  shownPrice,
  shownSymbol,
  shownTime,
  table,
} from './text.js'

const TYPES = 'peg_sample,peg_break.started,peg_break.ended,peg_quote.lost,peg_quote.back,event.retracted'
/** How often the table is drawn at most, in milliseconds. */
const FRAME_MS = 250
const MOST_EVENTS = 5

type Row = {
  symbol: string
  address: string
  /** The list says whether a stable is quoted; only the stream says why not. */
  sample: (Omit<PegSample, 'status'> & { status: PegSample['status'] | 'not quoted' | 'not known' }) | null
  /** When the break that is under way began. */
  breakSince: string | null
  severity: string | null
}

/** What the table shows. */
export type Watched = { rows: Map<string, Row>; events: string[]; messages: number }

/** What is watched, as the list has it. */
export const watchedOf = (stables: readonly Stable[]): Watched => ({
  rows: new Map(
    stables.map(({ symbol, address, peg, quote, open_break }) => [
      address,
      {
        symbol,
        address,
        sample: peg && {
          stable: address,
          status: quote?.quoted === false ? 'not quoted' : quote?.quoted === true ? 'quoted' : 'not known',
          price_vs_refusd: peg.price,
          spread_bps: peg.spread_bps,
          buy_price: peg.buy_price,
          mid_price: peg.mid_price,
          block_number: peg.block_number,
          sampled_at: peg.sampled_at,
        },
        breakSince: open_break?.started_at ?? null,
        severity: open_break?.severity ?? null,
      },
    ]),
  ),
  events: [],
  messages: 0,
})

/** One line about a message, in plain output; null for those that say nothing about a stable. */
export function messageLine({ rows }: Watched, message: StreamMessage): string | null {
  const nameOf = (address: string): string => {
    const row = rows.get(address)
    return row ? `${shownSymbol(row.symbol)} ${address}` : printable(address)
  }
  switch (message.event) {
    case 'peg_sample': {
      const { stable, status, price_vs_refusd, spread_bps, block_number, sampled_at } = message.data
      return `${sampleTime(sampled_at)}  ${nameOf(stable)}  ${shownPrice(price_vs_refusd)}  ${shownDeviation(price_vs_refusd, spread_bps)} bps  block ${block_number}  ${printable(status)}`
    }
    case 'peg_break.started': {
      const { occurred_at, data } = message.data
      return `${shownTime(occurred_at)}  ${nameOf(data.stable)}  ${data.severity} break ${data.direction} since ${shownTime(data.started_at)}, ${data.max_deviation_bps.toFixed(2)} bps so far`
    }
    case 'peg_break.ended': {
      const { occurred_at, data } = message.data
      return `${shownTime(occurred_at)}  ${nameOf(data.stable)}  ${data.severity} break ended after ${duration(data.duration_seconds)}, at most ${data.max_deviation_bps.toFixed(2)} bps`
    }
    case 'peg_quote.lost':
      return `${shownTime(message.data.occurred_at)}  ${nameOf(message.data.data.stable)}  quote lost: ${printable(message.data.data.status)}`
    case 'peg_quote.back':
      return `${shownTime(message.data.occurred_at)}  ${nameOf(message.data.data.stable)}  quoted again`
    case 'event.retracted':
      return `${shownTime(message.data.occurred_at)}  an earlier event was taken back: the chain was another one`
    default:
      return null
  }
}

/** Takes a message in. */
export function take(watched: Watched, message: StreamMessage): void {
  watched.messages++
  if (message.event === 'peg_sample') {
    const { stable } = message.data
    const row = watched.rows.get(stable)
    if (row) row.sample = message.data
    else
      watched.rows.set(stable, { symbol: '?', address: stable, sample: message.data, breakSince: null, severity: null })
    return
  }
  const line = messageLine(watched, message)
  if (line !== null) watched.events = [line, ...watched.events].slice(0, MOST_EVENTS)
  if (message.event !== 'peg_break.started' && message.event !== 'peg_break.ended') return
  const { stable, severity, started_at } = message.data.data
  const row = watched.rows.get(stable)
  if (!row) return
  if (message.event === 'peg_break.started') {
    // The worse of two is shown.
    if (row.severity !== 'severe') Object.assign(row, { severity, breakSince: started_at })
  } else if (row.severity === severity) Object.assign(row, { severity: null, breakSince: null })
}

/** The screen: as many lines as fit, each within the width. */
export function screen(watched: Watched, { columns, rows: height }: { columns: number; rows: number }): string[] {
  const rows = [...watched.rows.values()].map(({ symbol, address, sample, severity, breakSince }) => [
    shownSymbol(symbol),
    shownPrice(sample?.price_vs_refusd),
    shownDeviation(sample?.price_vs_refusd, sample?.spread_bps),
    shownPrice(sample?.buy_price),
    sample ? `${sample.block_number}` : '-',
    sample ? sampleTime(sample.sampled_at) : '-',
    sample ? printable(sample.status) : '-',
    severity && breakSince ? `${severity} since ${shownTime(breakSince)}` : '',
    address,
  ])
  const titles = ['SYMBOL', 'SELLS FOR', 'BPS', 'COSTS', 'BLOCK', 'TIME', 'STATUS', 'BREAK', 'ADDRESS']
  const events = watched.events.length === 0 ? [] : ['', ...watched.events]
  const left = Math.max(height - events.length - 3, 1)
  const shown = table([titles, ...rows.slice(0, left)], [1, 2, 3, 4])
  const hidden = rows.length > left ? [`and ${rows.length - left} more`] : []
  return [...shown, ...hidden, ...events, 'Ctrl-C ends'].slice(0, height - 1).map((line) => cut(line, columns))
}

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const draw = (shown: readonly string[]): string =>
  `\u001b[H${shown.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`

/** Watches until `signal` is aborted, over as many connections as it takes. Without a terminal, each message is one line. */
export async function watch(
  client: Client,
  { stables: named }: { stables: readonly string[] },
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const isScreen = output.terminal !== null && !output.json
  const show = (watched: Watched): void => {
    if (output.terminal) output.write(draw(screen(watched, output.terminal)))
  }
  let waiting: ReturnType<typeof setTimeout> | undefined
  let isOnScreen = false
  try {
    const addresses = await Promise.all(named.map((one) => addressOf(client, one, signal)))
    const tracked = await trackedStables(client, signal)
    const watched = watchedOf(
      addresses.length === 0 ? tracked : tracked.filter(({ address }) => addresses.includes(address)),
    )
    const messages = client.streamEvents(
      { types: TYPES, ...(addresses.length > 0 && { stable: addresses.join() }) },
      { signal },
    )
    if (isScreen) {
      isOnScreen = true
      output.write(ENTER)
      show(watched)
    }
    for await (const message of messages) {
      if (output.json) {
        output.write(`${printableJson(message)}\n`)
        continue
      }
      take(watched, message)
      if (isScreen)
        waiting ??= setTimeout(() => {
          waiting = undefined
          show(watched)
        }, FRAME_MS)
      else {
        const line = messageLine(watched, message)
        if (line !== null) output.write(`${line}\n`)
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    clearTimeout(waiting)
    if (isOnScreen) output.write(LEAVE)
  }
}
