import type { ChainEvent } from '../chain/event-types.js'

/** Which states a block's events may have changed: those of `stables`, or with `policies` those of every stable. */
export type TouchedStates = { stables: ReadonlySet<string>; policies: boolean }

/** The stables whose supply, cap, pause or policy a block's events may have changed. */
export function touchedStates(events: readonly ChainEvent[]): TouchedStates {
  const stables = new Set<string>()
  let policies = false
  for (const event of events) {
    switch (event.name) {
      case 'TokenCreated':
        stables.add(event.args.token)
        break
      case 'Mint':
      case 'Burn':
      case 'BurnBlocked':
      case 'SupplyCapUpdate':
      case 'PauseStateUpdate':
      case 'TransferPolicyUpdate':
        stables.add(event.address)
        break
      case 'PolicyAdminUpdated':
        // Any stable may have this policy.
        policies = true
        break
      default:
    }
  }
  return { stables, policies }
}
