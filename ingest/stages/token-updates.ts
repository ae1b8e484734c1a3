import type { LogoUpdate, QuoteTokenProposal } from '../../clickhouse/stablecoins/token-updates.js'
import type { ChainEvent } from '../chain/event-types.js'
import { type EventBlock, rowsOf } from './position.js'

/** The quote tokens that stables are to have, in log order. */
export const quoteTokenProposals = (block: EventBlock, events: readonly ChainEvent[]): QuoteTokenProposal[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'NextQuoteTokenSet') return null
    return { stable: event.address, quote_token: event.args.nextQuoteToken, updater: event.args.updater }
  })

/** The changes of logos, in log order. */
export const logoUpdates = (block: EventBlock, events: readonly ChainEvent[]): LogoUpdate[] =>
  rowsOf(block, events, (event) => {
    if (event.name !== 'LogoURIUpdated') return null
    return { stable: event.address, logo_uri: event.args.newLogoURI, updater: event.args.updater }
  })
