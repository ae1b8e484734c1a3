import { toEventSelector } from 'viem'
import { TIP20_EVENTS, TIP20_UNREAD_EVENTS } from '../chain/abis.js'
import { STABLECOIN_DEX, TIP20_PREFIX } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { RawLog } from '../chain/rpc-answers.js'

/** The tokens whose books, pause or quote token a block may have changed; `all` if that is unknown. */
export type QuoteChanges = ReadonlySet<string> | 'all'

/**
 * The events of a token that change nothing on which a quote depends. All others do, or may: pause, quote token, and those
 * that a later version of the chain adds.
 */
const HARMLESS_NAMES = [
  'Transfer',
  'TransferWithMemo',
  'Approval',
  'Mint',
  'Burn',
  'BurnBlocked',
  'BurnAt',
  'SupplyCapUpdate',
  'TransferPolicyUpdate',
  'NextQuoteTokenSet',
  'RewardDistributed',
  'RewardRecipientSet',
  'RoleMembershipUpdated',
  'RoleAdminUpdated',
  'LogoURIUpdated',
]
const HARMLESS: ReadonlySet<string | undefined> = new Set(
  [...TIP20_EVENTS, ...TIP20_UNREAD_EVENTS]
    .filter(({ name }) => HARMLESS_NAMES.includes(name))
    .map((event) => toEventSelector(event)),
)

/** The orders among a block's events whose terms only their ids tell. */
export const namedOrders = (events: readonly ChainEvent[]): bigint[] =>
  events.flatMap((event) =>
    event.name === 'OrderFilled' || event.name === 'OrderCancelled' || event.name === 'FlipFailed'
      ? [event.args.orderId]
      : [],
  )

const isOfExchange = ({ address }: { address: string }): boolean => address === STABLECOIN_DEX

/**
 * What a block's logs may have changed of what quotes depend on. `events` are its decoded logs; `baseOf` returns the token
 * whose book an order is in, undefined if unknown.
 */
export function quoteChanges(
  logs: readonly RawLog[],
  events: readonly ChainEvent[],
  baseOf: (orderId: bigint) => string | undefined,
): QuoteChanges {
  const changed = new Set<string>()
  for (const { address, topics } of logs)
    if (address.startsWith(TIP20_PREFIX) && !HARMLESS.has(topics[0])) changed.add(address)
  const ofExchange = events.filter(isOfExchange)
  // An event of the exchange that is not known may change any book.
  if (ofExchange.length !== logs.filter(isOfExchange).length) return 'all'
  for (const event of ofExchange) {
    const base = changedBook(event, baseOf)
    if (base === undefined) return 'all'
    changed.add(base)
  }
  return changed
}

/** The token whose book an event of the exchange changes; undefined if unknown. */
function changedBook(event: ChainEvent, baseOf: (orderId: bigint) => string | undefined): string | undefined {
  switch (event.name) {
    case 'PairCreated':
      return event.args.base
    case 'OrderPlaced':
    case 'OrderFlipped':
      return event.args.token
    case 'OrderFilled':
    case 'OrderCancelled':
    case 'FlipFailed':
      return baseOf(event.args.orderId)
    default:
      return undefined
  }
}
