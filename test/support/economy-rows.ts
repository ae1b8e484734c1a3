import type { ClickHouseClient } from '@clickhouse/client'
import { type Facts, factTables, insertFacts } from '../../clickhouse/facts/facts.js'
import type { FeeDistribution, FeeElection } from '../../clickhouse/fees/fees.js'
import type { RewardDistribution, RewardRecipient } from '../../clickhouse/rewards/rewards.js'
import type { RoleEvent, RoleProbe } from '../../clickhouse/roles/roles.js'
import { txHash } from './rows.js'

/** The position of a fact for a handmade row; the log index is 0 by default. */
type Place = { block_number: number; block_time: number; log_index?: number }

const position = ({ block_number, block_time, log_index = 0 }: Place) => ({
  block_number,
  block_time,
  log_index,
  tx_hash: txHash(block_number * 1000 + log_index),
})

/** The address of the i-th fictitious account. */
export const account = (i: number): string => `0xacc${i.toString(16).padStart(37, '0')}`

export const rewardDistribution = (stable: string, funder: string, tokens: number, at: Place): RewardDistribution => ({
  stable,
  funder,
  amount_raw: `${Math.round(tokens * 1e6)}`,
  ...position(at),
})

export const rewardRecipient = (stable: string, holder: string, recipient: string, at: Place): RewardRecipient => ({
  stable,
  holder,
  recipient,
  ...position(at),
})

export const feeElection = (kind: FeeElection['kind'], elector: string, stable: string, at: Place): FeeElection => ({
  kind,
  account: elector,
  stable,
  ...position(at),
})

export const feeDistribution = (stable: string, validator: string, tokens: number, at: Place): FeeDistribution => ({
  stable,
  validator,
  amount_raw: `${Math.round(tokens * 1e6)}`,
  ...position(at),
})

export const roleChange = (
  kind: 'granted' | 'revoked',
  { stable, role_name, holder }: { stable: string; role_name: string; holder: string },
  at: Place,
): RoleEvent => ({
  kind,
  stable,
  role: roleId(role_name),
  role_name,
  account: holder,
  new_admin_role: null,
  sender: account(0xad),
  ...position(at),
})

export const roleProbe = (
  { stable, role_name, holder }: { stable: string; role_name: string; holder: string },
  has_role: boolean,
  { block_number, block_time }: Place,
): RoleProbe => ({
  stable,
  account: holder,
  role: roleId(role_name),
  role_name,
  has_role,
  block_number,
  block_time,
})

/** An arbitrary 32-byte role id. */
const roleId = (name: string): string => `0x${Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64)}`

let tokens = 0

/** Inserts facts into any tables as ingest would. */
export async function addRows(clickhouse: ClickHouseClient, facts: Partial<Facts>): Promise<void> {
  for (const table of factTables) await insertFacts(clickhouse, table, facts[table] ?? [], `rows-${++tokens}`)
}
