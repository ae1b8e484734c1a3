import type { FactPosition } from '../chain/blocks.js'
import type { ExchangeLog } from './books.js'

/**
 * A log that changes what the exchange quotes, as it is stored: what its event does not have is 0, empty or false. `token`:
 * whose quote token or pause it is about; of a pair or an order, its base. Integers are decimal strings.
 */
export type ExchangeEvent = Omit<FactPosition, 'tx_hash'> & {
  event: ExchangeLog['name']
  token: string
  quote: string
  order_id: string
  maker: string
  amount_raw: string
  is_bid: boolean
  tick: number
  flip_tick: number
  is_flip: boolean
  is_partial: boolean
  is_paused: boolean
}

/** What a log says, without its place. */
type Content = Omit<ExchangeEvent, keyof FactPosition>

const NOTHING: Omit<Content, 'event'> = {
  token: '',
  quote: '',
  order_id: '0',
  maker: '',
  amount_raw: '0',
  is_bid: false,
  tick: 0,
  flip_tick: 0,
  is_flip: false,
  is_partial: false,
  is_paused: false,
}

/** The names of the logs that change what the exchange quotes. */
const NAMES: ReadonlySet<string> = new Set(
  Object.keys({
    TokenCreated: true,
    QuoteTokenUpdate: true,
    PauseStateUpdate: true,
    PairCreated: true,
    OrderPlaced: true,
    OrderFilled: true,
    OrderFlipped: true,
    FlipFailed: true,
    OrderCancelled: true,
  } satisfies Record<ExchangeLog['name'], true>),
)
export const EXCHANGE_LOGS = [...NAMES] as ReadonlyArray<ExchangeLog['name']>

/** Whether an event changes what the exchange quotes. */
export const isExchangeLog = <Event extends { name: string }>(event: Event): event is Event & ExchangeLog =>
  NAMES.has(event.name)

/** What is stored of a log. */
export function contentOf(log: ExchangeLog): Content {
  const event = log.name
  switch (log.name) {
    case 'TokenCreated':
      return { ...NOTHING, event, token: log.args.token, quote: log.args.quoteToken }
    case 'QuoteTokenUpdate':
      return { ...NOTHING, event, token: log.address, quote: log.args.newQuoteToken }
    case 'PauseStateUpdate':
      return { ...NOTHING, event, token: log.address, is_paused: log.args.isPaused }
    case 'PairCreated':
      return { ...NOTHING, event, token: log.args.base, quote: log.args.quote }
    case 'OrderPlaced':
    case 'OrderFlipped': {
      const { orderId, maker, token, amount, isBid: is_bid, tick, flipTick: flip_tick } = log.args
      const is_flip = log.name === 'OrderPlaced' && log.args.isFlipOrder
      const terms = { order_id: `${orderId}`, maker, token, amount_raw: `${amount}`, is_bid, tick, flip_tick, is_flip }
      return { ...NOTHING, event, ...terms }
    }
    case 'OrderFilled': {
      const { orderId, amountFilled, partialFill: is_partial } = log.args
      return { ...NOTHING, event, order_id: `${orderId}`, amount_raw: `${amountFilled}`, is_partial }
    }
    case 'FlipFailed':
    case 'OrderCancelled':
      return { ...NOTHING, event, order_id: `${log.args.orderId}` }
  }
}

/** The log of which this is stored. */
export function exchangeLogOf(stored: Content & Pick<ExchangeEvent, 'log_index'>): ExchangeLog {
  const { event, maker, token, quote, is_bid: isBid, tick, flip_tick: flipTick } = stored
  const [logIndex, orderId, amount] = [stored.log_index, BigInt(stored.order_id), BigInt(stored.amount_raw)]
  const order = { orderId, maker, token, amount, isBid, tick, flipTick }
  switch (event) {
    case 'TokenCreated':
      return { name: event, logIndex, address: '', args: { token, quoteToken: quote } }
    case 'QuoteTokenUpdate':
      return { name: event, logIndex, address: token, args: { newQuoteToken: quote } }
    case 'PauseStateUpdate':
      return { name: event, logIndex, address: token, args: { isPaused: stored.is_paused } }
    case 'PairCreated':
      return { name: event, logIndex, address: '', args: { base: token, quote } }
    case 'OrderPlaced':
      return { name: event, logIndex, address: '', args: { ...order, isFlipOrder: stored.is_flip } }
    case 'OrderFlipped':
      return { name: event, logIndex, address: '', args: order }
    case 'OrderFilled':
      return {
        name: event,
        logIndex,
        address: '',
        args: { orderId, amountFilled: amount, partialFill: stored.is_partial },
      }
    case 'FlipFailed':
    case 'OrderCancelled':
      return { name: event, logIndex, address: '', args: { orderId } }
  }
}
