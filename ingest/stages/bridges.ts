import { UNCAPPED } from '../../clickhouse/supply/supply.js'
import { KNOWN_BRIDGES, zoneOf } from '../chain/addresses.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { IssuerRoles } from '../knowledge/issuer-roles.js'
import type { Movement } from './flows.js'

/**
 * A mint or burn of the transaction that no bridge event has claimed yet. `by` is who burned, whose right to it the token
 * has checked; null for a mint, whose event names the receiver only.
 */
type Supply = { by: string | null; token: string; account: string; amount: bigint }

function supplyChange(event: ChainEvent): Omit<Supply, 'token'> | null {
  switch (event.name) {
    case 'Mint':
      return { by: null, account: event.args.to, amount: event.args.amount }
    case 'Burn':
      return { by: event.args.from, account: event.args.from, amount: event.args.amount }
    // A bridge with BURN_AT_ROLE burns from its user without an approval.
    case 'BurnAt':
      return { by: event.args.burner, account: event.args.from, amount: event.args.amount }
    default:
      return null
  }
}

/** A movement between this chain and another, as far as the bridge's own event describes it. */
type Crossing = { way: 'in' | 'out'; account: string; sent: bigint; received: bigint; remote: string; token: string }

/** What a portal's event moved between its zone and this chain; null for every other event. */
function zoneCrossing(event: ChainEvent): Crossing | null {
  const remote = zoneOf(event.address)
  if (remote === null) return null
  switch (event.name) {
    case 'ZoneDepositMade': {
      const { sender: account, token, netAmount: received, fee } = event.args
      return { way: 'out', account, token, sent: received + fee, received, remote }
    }
    // If the receiver's own code failed, the portal returns the amount to the zone.
    case 'ZoneWithdrawalProcessed': {
      const { to: account, token, amount, callbackSuccess } = event.args
      return callbackSuccess ? { way: 'in', account, token, sent: amount, received: amount, remote } : null
    }
    case 'ZoneDepositBounceBack': {
      const { tempoRefundRecipient: account, token, amount } = event.args
      return { way: 'in', account, token, sent: amount, received: amount, remote }
    }
    case 'ZoneRefundClaimed': {
      const { recipient: account, token, amount } = event.args
      return { way: 'in', account, token, sent: amount, received: amount, remote }
    }
    default:
      return null
  }
}

/**
 * What an OFT's event moved; null for every other event, and if no token can be found for it. The event does not name
 * its token: it is the one that the contract minted or burned just before, as one that the token lets do it. So a contract
 * that only emits the event does not count as a bridge.
 */
function oftCrossing(event: ChainEvent, supply: Supply[], issuers: IssuerRoles): Crossing | null {
  if (event.name !== 'OFTSent' && event.name !== 'OFTReceived') return null
  const bridge = event.address
  const isOut = event.name === 'OFTSent'
  const account = isOut ? event.args.fromAddress : event.args.toAddress
  const received = event.args.amountReceivedLD
  const sent = isOut ? event.args.amountSentLD : received
  const at = supply.findLastIndex(
    ({ by, token, account: receiver, amount }) =>
      (amount === received || amount === sent) &&
      (isOut ? by === bridge : by === null && receiver === account && issuers.hasRole(token, bridge, event)),
  )
  const token = KNOWN_BRIDGES.get(bridge) ?? supply[at]?.token
  if (token === undefined) return null
  if (at >= 0) supply.splice(at, 1)
  const eid = isOut ? event.args.dstEid : event.args.srcEid
  return { way: isOut ? 'out' : 'in', account, token, sent, received, remote: `eid:${eid}` }
}

/**
 * What bridges moved between this chain and others in a block, in log order. `issuers` must already know the block's
 * own role changes.
 */
export function bridgeMovements(events: readonly ChainEvent[], issuers: IssuerRoles): Movement[] {
  const movements: Movement[] = []
  let supply: Supply[] = []
  let txHash = ''
  for (const event of events) {
    if (event.txHash !== txHash) {
      txHash = event.txHash
      supply = []
    }
    const { address: token, logIndex } = event
    const change = supplyChange(event)
    if (change) supply.push({ ...change, token })
    const crossing = zoneCrossing(event) ?? oftCrossing(event, supply, issuers)
    // No token has more than that. Any contract may emit an OFT's event, whose amounts have 256 bits.
    if (!crossing || crossing.sent > UNCAPPED || crossing.received > UNCAPPED) continue
    movements.push({
      kind: 'bridge',
      from_token: crossing.way === 'out' ? crossing.token : '',
      to_token: crossing.way === 'out' ? '' : crossing.token,
      account: crossing.account,
      path: [crossing.token],
      remote_chain: crossing.remote,
      amountIn: crossing.sent,
      amountOut: crossing.received,
      isClear: true,
      logIndex,
      txHash,
    })
  }
  return movements
}
