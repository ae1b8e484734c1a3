import type { PauseEvent } from '../../clickhouse/stablecoins/pause-events.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './position.js'

/** The pauses and their ends among a block's events, in log order. */
export const pauseEvents = (block: EventBlock, events: readonly ChainEvent[]): PauseEvent[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'PauseStateUpdate') return null
    return { stable: event.address, is_paused: event.args.isPaused, updater: event.args.updater }
  })
