import type { Facts } from '../../clickhouse/facts/facts.js'
import { type Random, randomFor, shuffled } from '../../local/chain/random.js'
import {
  account,
  feeDistribution,
  feeElection,
  rewardDistribution,
  rewardRecipient,
  roleChange,
  roleProbe,
} from './economy-rows.js'
import { stableAddress, stablecoin, stateRead } from './rows.js'

const ROLES = ['DEFAULT_ADMIN_ROLE', 'ISSUER_ROLE', 'PAUSE_ROLE', '']
const ZERO = `0x${'0'.repeat(40)}`
const BLOCKS = 600
const LOGS = 5

/**
 * A random economy of four stables, the last of which is not tracked, over three weeks of irregular blocks: every kind
 * of event by a few accounts, so that they often choose, grant and revoke again, several of them in one block. Rows are
 * in no particular order.
 */
export function randomEconomy(seed: number, start: number) {
  const random = randomFor(seed, 'economy')
  const stables = [1, 2, 3, 4].map(stableAddress)
  const who = (): string => account(random.int(1, 14))
  const facts = {
    stablecoins: [0, 1, 2].map((i) =>
      stablecoin(i + 1, {
        block_number: i,
        block_time: start + 86_400 * i,
        tx_hash: i === 0 ? '' : `0x${'1'.repeat(64)}`,
      }),
    ),
    reward_distributions: [],
    reward_recipients: [],
    fee_elections: [],
    fee_distributions: [],
    role_events: [],
    role_probes: [],
    state_reads: [],
  } as unknown as Pick<Facts, Made>
  const times = blockTimes(random, start)
  for (const [i, block_time] of times.entries()) {
    const block_number = i + 1
    for (let log_index = 0; log_index < LOGS; log_index++) {
      const at = { block_number, block_time, log_index }
      const stable = random.pick(stables)
      const tokens = random.int(0, 2_000_000) / 1e3
      const of = { stable, role_name: random.pick(ROLES), holder: who() }
      const holder = who()
      const done = random.int(0, 11)
      if (done === 0) facts.reward_distributions.push(rewardDistribution(stable, who(), tokens, at))
      else if (done <= 2)
        facts.reward_recipients.push(rewardRecipient(stable, holder, random.pick([ZERO, holder, who()]), at))
      else if (done <= 4)
        facts.fee_elections.push(
          feeElection(random.chance(0.3) ? 'validator' : 'user', holder, random.pick([...stables, ZERO]), at),
        )
      else if (done === 5) facts.fee_distributions.push(feeDistribution(stable, who(), tokens, at))
      else if (done <= 8) facts.role_events.push(roleChange(random.chance(0.6) ? 'granted' : 'revoked', of, at))
      else if (done === 9 && log_index === 0) facts.role_probes.push(roleProbe(of, random.chance(0.5), at))
    }
    for (const stable of stables.slice(0, 3)) {
      if (!random.chance(0.3)) continue
      const raws = {
        opted_in_raw: `${random.int(0, 5) * 1e9}`,
        reward_per_token_raw: `${block_number}000000000000000000000`,
      }
      facts.state_reads.push(stateRead(stable, { block_number, block_time, supply_raw: `${block_number}`, ...raws }))
    }
  }
  for (const table of Object.keys(facts) as Made[]) facts[table] = shuffled<never>(facts[table] as never[], random)
  return { stables: stables.slice(0, 3), times, facts }
}

type Made =
  | 'stablecoins'
  | 'reward_distributions'
  | 'reward_recipients'
  | 'fee_elections'
  | 'fee_distributions'
  | 'role_events'
  | 'role_probes'
  | 'state_reads'

/** Times of blocks: mostly close together, some in the same second, some hours apart. */
function blockTimes(random: Random, start: number): number[] {
  const times: number[] = []
  let time = start
  for (let i = 0; i < BLOCKS; i++) {
    time += random.chance(0.1) ? 0 : random.chance(0.2) ? random.int(3600, 20_000) : random.int(1, 1200)
    times.push(time)
  }
  return times
}
