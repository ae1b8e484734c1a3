import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { inParts } from '../store/in-parts.js'
import { QueryError } from '../store/query-error.js'
import { blockNumber, blockTimestamp, logIndex, txHash } from '../store/values.js'
import type { Family } from './batches.js'
import type { FactPosition } from './blocks.js'

/** The chain's own contracts by what their events mean to an answer; `other`: nothing. */
const EMITTERS = ['token', 'factory', 'exchange', 'policies', 'fees', 'guard', 'channels', 'zones', 'other'] as const
export type Emitter = (typeof EMITTERS)[number]

/**
 * Why a log is not understood. `topic`: no event of the contract that this version knows has its first topic; `data`: its
 * topics or data do not fit the event that they name; `order`: it names an order, or a token, that no known event has made.
 */
const REASONS = ['topic', 'data', 'order'] as const

/** Logs of one of the chain's own contracts in a block that ingest does not understand; the position is that of the first. */
export type UnknownEvent = FactPosition & {
  emitter: Emitter
  contract: string
  topic: string
  reason: (typeof REASONS)[number]
  log_count: number
}

/**
 * Of which contracts the families of facts hold events. Those of logs have too many to be named here: an answer about them
 * names those on which it rests.
 */
const OF_FAMILY: Record<Exclude<Family, 'logs'>, readonly Emitter[]> = {
  catalogue: ['token', 'factory'],
  pegs: ['exchange'],
  state: ['token', 'policies'],
  transfers: ['token', 'guard', 'channels'],
}

/** Since when a contract has had events that are not understood. The time is in unix seconds. */
export type UnknownSince = { emitter: Emitter; contract: string; from_block: number; from_time: number }

/** On whose events flows rest: swaps are the exchange's, movements between chains those of portals, or burns and mints of tokens. */
export const OF_FLOWS: readonly Emitter[] = ['exchange', 'zones', 'token']

/** On whose events an answer rests: those of its families and of `logsOf`; of tokens, of the stable only, if it is about one. */
export type RestsOn = {
  families: readonly Family[]
  logsOf?: readonly Emitter[] | undefined
  stable?: string | undefined
}

/** Those of the unknown events that may change an answer. */
export function touching(unknown: readonly UnknownSince[], { families, logsOf = [], stable }: RestsOn): UnknownSince[] {
  if (unknown.length === 0) return []
  const emitters = new Set([...logsOf, ...families.flatMap((family) => (family === 'logs' ? [] : OF_FAMILY[family]))])
  return unknown.filter(
    ({ emitter, contract }) =>
      emitters.has(emitter) && (emitter !== 'token' || stable === undefined || contract === stable),
  )
}

/** Since when each contract on which an answer may rest has had unknown events, the first contract first. */
export const unknownSince = defineQuery({
  name: 'unknown_since',
  row: z.object({ emitter: z.enum(EMITTERS), contract: z.string(), from_block: z.int(), from_time: z.int() }),
  sql: `
    SELECT emitter, contract, toUInt32(min(block_number)) AS from_block, toUnixTimestamp(min(block_time)) AS from_time
    FROM unknown_events WHERE emitter != 'other' GROUP BY emitter, contract ORDER BY from_block, contract`,
})

/** SQL: a text that changes when a contract has its first unknown event, an earlier one, or none any more. */
export const UNKNOWN_MARK = `SELECT toString(sum(cityHash64(contract, first)))
    FROM (SELECT contract, min(block_number) AS first FROM unknown_events WHERE emitter != 'other' GROUP BY emitter, contract)`

/** Most unknown events that the status lists. */
export const MOST_UNKNOWN = 50

export const UnknownEventRow = z.object({
  contract: z.string().meta({ description: 'Address of the contract' }),
  emitter: z.enum(EMITTERS).meta({ description: 'What the contract is to the chain; token: any TIP-20' }),
  topic: z.string().meta({ description: 'First topic of the logs, by which events are told apart' }),
  reason: z.enum(REASONS).meta({
    description:
      'topic: an event that this version does not know; data: one that does not fit its definition; order: it names an order or a token that no known event has made',
  }),
  log_count: z.number().nonnegative().meta({ description: 'How many such logs were read' }),
  first_block: blockNumber.meta({ description: 'Height of the first block with one' }),
  last_block: blockNumber.meta({ description: 'Height of the last block with one' }),
  first_at: blockTimestamp,
  last_at: blockTimestamp,
  example: z
    .object({ tx_hash: txHash, log_index: logIndex, block_number: blockNumber })
    .meta({ description: 'The newest of them' }),
})

/** The unknown events by contract and topic, the newest first. */
export const unknownEvents = defineQuery({
  name: 'unknown_events',
  row: UnknownEventRow,
  sql: `
    SELECT contract, any(emitter) AS emitter, topic, any(reason) AS reason, toFloat64(sum(log_count)) AS log_count,
           toUInt32(min(block_number)) AS first_block, toUInt32(max(block_number)) AS last_block,
           min(block_time) AS first_at, max(block_time) AS last_at,
           CAST((argMax(tx_hash, block_number), argMax(log_index, block_number), toUInt32(max(block_number))),
                'Tuple(tx_hash String, log_index UInt32, block_number UInt32)') AS example
    FROM unknown_events GROUP BY contract, topic ORDER BY last_block DESC, contract, topic`,
})

/** In which blocks there are events whose first topic was not known when they were read, by contract and topic. */
export const unknownTopics = defineQuery({
  name: 'unknown_topics',
  row: z.object({ contract: z.string(), topic: z.string(), first_block: z.int(), last_block: z.int() }),
  sql: `
    SELECT contract, topic, toUInt32(min(block_number)) AS first_block, toUInt32(max(block_number)) AS last_block
    FROM unknown_events WHERE reason = 'topic' GROUP BY contract, topic ORDER BY contract, topic`,
})

/** Removes the events of these contracts in a range of blocks, both ends included. Safe to repeat. Rejects with QueryError. */
export async function removeUnknownEvents(
  clickhouse: ClickHouseClient,
  { contracts, ...range }: { from_block: number; to_block: number; contracts: readonly string[] },
): Promise<void> {
  const query = `
    DELETE FROM unknown_events
    WHERE block_number BETWEEN {from_block: UInt64} AND {to_block: UInt64} AND contract IN {contracts: Array(String)}
    SETTINGS lightweight_deletes_sync = 2`
  await inParts(contracts, async (part) => {
    await clickhouse.command({ query, query_params: { ...range, contracts: part } }).catch((cause) => {
      throw new QueryError('remove unknown events', cause)
    })
    return []
  })
}
