import type { ChainEvent } from '../chain/event-types.js'

/** Which transfer policy each stable has at the end of the newest known block. */
export type PolicyUses = {
  /** Adds the events of one more block. A stable has another policy only from its TransferPolicyUpdate on. */
  learn: (events: readonly ChainEvent[]) => void
  /**
   * Those of `stables` that have, or may have, one of `policies` at the end of the newest block. `read` returns the policies
   * of stables at its end, in their order, or null if the node no longer has them. Each stable is asked about once, however
   * many policies change afterwards.
   */
  usersOf: (
    policies: ReadonlySet<bigint>,
    stables: readonly string[],
    read: (unknown: readonly string[]) => Promise<readonly bigint[] | null>,
  ) => Promise<string[]>
}

/** Starts without knowledge of any stable. */
export function createPolicyUses(): PolicyUses {
  const policyOf = new Map<string, bigint>()
  return {
    learn: (events) => {
      for (const event of events) {
        // Of a stable that nobody asks about nothing is kept.
        if (event.name === 'TransferPolicyUpdate' && policyOf.has(event.address))
          policyOf.set(event.address, event.args.newPolicyId)
      }
    },
    usersOf: async (policies, stables, read) => {
      if (policies.size === 0) return []
      const unknown = stables.filter((stable) => !policyOf.has(stable))
      const policyIds = unknown.length === 0 ? [] : await read(unknown)
      for (const [i, policy] of (policyIds ?? []).entries()) policyOf.set(unknown[i] as string, policy)
      return stables.filter((stable) => {
        const policy = policyOf.get(stable)
        return policy === undefined || policies.has(policy)
      })
    },
  }
}
