import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import type { ChainEvent } from '../chain/event-types.js'

/** Who an event of a token shows to have, give or take a role: nobody else may do these things. */
function actors(event: ChainEvent): string[] {
  switch (event.name) {
    case 'RoleMembershipUpdated':
      return [event.args.sender, event.args.account]
    case 'RoleAdminUpdated':
      return [event.args.sender]
    case 'PauseStateUpdate':
    case 'SupplyCapUpdate':
    case 'TransferPolicyUpdate':
    case 'NextQuoteTokenSet':
    case 'LogoURIUpdated':
      return [event.args.updater]
    default:
      return []
  }
}

/** Those of the sampled stables, which are in order of creation, that were there before the first block. */
export function genesisStables(sampled: readonly Stablecoin[]): string[] {
  const end = sampled.findIndex(({ block_number }) => block_number > 0)
  return sampled.slice(0, end === -1 ? sampled.length : end).map(({ stable }) => stable)
}

/**
 * The accounts that a block shows to be worth asking whether they hold roles of genesis tokens, each once: who
 * administers such a token in this block, and the admins of stables that were made in it. `sampled` are the stables
 * that are sampled at the block, in order of creation. It depends on the block alone, so reading it again asks for the same.
 */
export function roleCandidates(
  blockNumber: number,
  events: readonly ChainEvent[],
  sampled: readonly Stablecoin[],
): string[] {
  const candidates = new Set<string>()
  const genesis = genesisStables(sampled)
  for (const event of events) {
    if (genesis.includes(event.address)) for (const account of actors(event)) candidates.add(account)
  }
  // The newest come last.
  for (let i = sampled.length - 1; sampled[i]?.block_number === blockNumber; i--) {
    candidates.add((sampled[i] as Stablecoin).admin)
  }
  return [...candidates]
}
