import type { UnknownEvent } from '../../clickhouse/chain/unknown-events.js'
import type { ChainEvent } from '../chain/event-types.js'
import type { BlockWithLogs } from '../sources/blocks.js'

/** Times in unix seconds. */
type BlockTimes = Pick<BlockWithLogs, 'time' | 'parentTime'>

const MINUTE = 60
const FIVE_MINUTES = 5 * MINUTE

/** Whether a block is the first of its aligned period. This depends only on the block and its parent. */
const isFirstOf = (period: number, { time, parentTime }: BlockTimes): boolean =>
  Math.floor(time / period) > Math.floor(parentTime / period)

/** Whether the state of every sampled stable is read at a block: at the first block of each aligned five minutes. */
export const isStateDue = (block: BlockTimes): boolean => isFirstOf(FIVE_MINUTES, block)

/**
 * Whether depth is sampled at a block: at the first block of each aligned minute, or, if blocks are a minute or more
 * apart, of each aligned five minutes.
 */
export const isDepthDue = (block: BlockTimes): boolean =>
  isFirstOf(FIVE_MINUTES, block) || (isFirstOf(MINUTE, block) && block.time - block.parentTime < MINUTE)

/**
 * What a block's events may have changed: the states of `stables`, and those of the stables that have one of `policies`.
 */
type TouchedStates = { stables: ReadonlySet<string>; policies: ReadonlySet<bigint> }

/**
 * The stables whose supply, cap, pause or policy a block's events may have changed, and the older policies that have a new
 * administrator. A policy that is created in the block is none of them: the chain refuses a policy that does not exist, so a
 * stable that has it at the end of the block has adopted it in the block, which is an event of its own. What is not understood
 * of a token may have changed its state too.
 */
export function touchedStates(events: readonly ChainEvent[], unknown: readonly UnknownEvent[] = []): TouchedStates {
  const stables = new Set(unknown.filter(({ emitter }) => emitter === 'token').map(({ contract }) => contract))
  const policies = new Set<bigint>()
  const created = new Set<bigint>()
  for (const event of events) {
    switch (event.name) {
      case 'TokenCreated':
        stables.add(event.args.token)
        break
      case 'Mint':
      case 'Burn':
      case 'BurnBlocked':
      case 'BurnAt':
      case 'SupplyCapUpdate':
      case 'PauseStateUpdate':
      case 'TransferPolicyUpdate':
        stables.add(event.address)
        break
      case 'PolicyCreated':
      case 'CompoundPolicyCreated':
        created.add(event.args.policyId)
        break
      case 'PolicyAdminUpdated':
        policies.add(event.args.policyId)
        break
      default:
    }
  }
  for (const policy of created) policies.delete(policy)
  return { stables, policies }
}
