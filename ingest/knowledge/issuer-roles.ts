import type { RoleEvent } from '../../clickhouse/roles/roles.js'

/** A log's place in the chain. */
type LogPlace = { blockNumber: number; logIndex: number }

/** A change of whether an account may mint and burn a stable. */
export type IssuerRoleChange = {
  stable: string
  account: string
  granted: boolean
  block_number: number
  log_index: number
}

/** Who may mint and burn which stable, at any log of the known blocks. */
export type IssuerRoles = {
  /** Adds the role changes of one more block, in log order. */
  learn: (events: readonly RoleEvent[]) => void
  /** Whether the account held the role at a log, by the last change before it. */
  hasRole: (stable: string, account: string, at: LogPlace) => boolean
}

const isAfter = (change: IssuerRoleChange, { blockNumber, logIndex }: LogPlace): boolean =>
  change.block_number > blockNumber || (change.block_number === blockNumber && change.log_index > logIndex)

/** Starts from all known changes, in chain order. */
export function createIssuerRoles(allChanges: readonly IssuerRoleChange[]): IssuerRoles {
  const changesOf = new Map<string, IssuerRoleChange[]>()
  const add = (change: IssuerRoleChange): void => {
    const key = change.stable + change.account
    const changes = changesOf.get(key)
    if (changes) changes.push(change)
    else changesOf.set(key, [change])
  }
  allChanges.forEach(add)
  return {
    learn: (events) => {
      for (const { kind, stable, role_name, account, block_number, log_index } of events) {
        if (role_name !== 'ISSUER_ROLE' || kind === 'admin' || account === null) continue
        add({ stable, account, granted: kind === 'granted', block_number, log_index })
      }
    },
    hasRole: (stable, account, at) =>
      changesOf.get(stable + account)?.findLast((change) => !isAfter(change, at))?.granted ?? false,
  }
}
