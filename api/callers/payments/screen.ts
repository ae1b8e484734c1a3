import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'
import { parseUnits } from 'viem'
import { z } from 'zod'
import { within } from '../../../process/within.js'
import type { RequestCounter } from '../limits/counts.js'
import { TooManyPaymentsError } from './errors.js'
import type { Gateway } from './gateway.js'
import type { Proof } from './proof.js'
import { type Refusal, RefusedPayment } from './refused-payment.js'
import { CURRENCY_DECIMALS, type Offer } from './terms.js'

/** Credentials that an address may get wrong in a minute before each of them needs money behind it. */
export const MOST_PER_ADDRESS = 20
/** Different payments that may be presented for one challenge before each of them needs money behind it. */
const MOST_PER_CHALLENGE = 5
/** Transactions that a payer with money may get wrong in a minute, above the other limits. */
const MOST_PER_PAYER = 5

/** A payment that cannot succeed is remembered until its challenge can no longer be answered. */
const FAILED_FOR_SECONDS = 25 * 60 * 60
/** A payment that may still succeed is looked up and counted as a new one after this long. */
const UNDECIDED_FOR_MS = 60_000
/** Longer than a challenge can be answered, except by a transaction that was sent in time. */
const CHALLENGE_FOR_MS = 60 * 60_000
/** How many of each are remembered. */
const MOST_REMEMBERED = 20_000

/** How long to wait for Redis, in milliseconds. */
const PATIENCE_MS = 100

/** One use of a credential. */
export type Use = {
  /**
   * Resolves if the payment may be looked up in the database and on the chain. Rejects with RefusedPayment if its result
   * is already known, with TooManyPaymentsError if it is one of too many and has no money behind it, or like the node.
   */
  admit: (gateway: Gateway, proof: Proof, offer: Offer) => Promise<void>
  /** Replaces the refusal of a credential that is not even one, if it is one of too many. */
  refusalOf: (error: RefusedPayment) => Error
  /** Remembers the refusal of a payment that was looked up. */
  refused: (proof: Proof, refusal: Refusal) => void
  /** Counts the use no longer: it is paid, or nothing is known against it. */
  clear: () => void
}

/**
 * Decides which payments are looked up. Anybody can make up a hash, or sign a transaction without having the money, so
 * every use of a credential counts against the address that sends it and against its challenge, unless it pays. Above
 * that limit, only those are looked up that have money behind them, which costs one request per second for all.
 */
export type Screen = { begin: (network: string) => Promise<Use> }

const RememberedRefusal = z.object({ kind: z.string(), detail: z.string() })

type ScreenDeps = {
  counter: RequestCounter
  /** Shares failed payments between processes, under `prefix`. */
  redis: Redis | null
  prefix: string
}

/** Why payments have failed for good, by their keys, in this process and in Redis. */
function createFailures(redis: Redis | null, prefix: string) {
  const refusals = new LRUCache<string, Refusal>({ max: MOST_REMEMBERED, ttl: FAILED_FOR_SECONDS * 1000 })
  const redisKey = (key: string): string => `${prefix}:failed-payment:${key}`
  return {
    find: async (key: string): Promise<Refusal | null> => {
      const refusal = refusals.get(key)
      if (refusal || redis?.status !== 'ready') return refusal ?? null
      const text = await within(redis.get(redisKey(key)), PATIENCE_MS, null)
      const read = text === null ? null : RememberedRefusal.safeParse(JSON.parse(text))
      if (!read?.success) return null
      refusals.set(key, read.data)
      return read.data
    },
    keep: (key: string, { kind, detail }: Refusal): void => {
      refusals.set(key, { kind, detail })
      if (redis?.status !== 'ready') return
      const text = JSON.stringify({ kind, detail })
      void within(redis.set(redisKey(key), text, 'EX', FAILED_FOR_SECONDS), PATIENCE_MS, null)
    },
  }
}

/** A screen that remembers payments in this process and in Redis; all of that is bounded and expires. */
export function createScreen({ counter, redis, prefix }: ScreenDeps): Screen {
  const failures = createFailures(redis, prefix)
  const undecided = new LRUCache<string, Refusal>({ max: MOST_REMEMBERED, ttl: UNDECIDED_FOR_MS })
  const payments = new LRUCache<string, Set<string>>({ max: MOST_REMEMBERED, ttl: CHALLENGE_FOR_MS })

  /** A hash is checked together with the payer that the credential names. */
  const keyOf = ({ digest, mode, payer }: Proof): string => (mode === 'push' ? `${digest}:${payer}` : digest)
  function remember(key: string, refusal: Refusal): void {
    if (refusal.isFinal) failures.keep(key, refusal)
    else undecided.set(key, refusal)
  }

  /** Whether a challenge has had too many different payments before this one. */
  function isOneTooMany({ challengeId }: Proof, key: string): boolean {
    const seen = payments.get(challengeId) ?? new Set()
    if (seen.has(key)) return false
    if (seen.size >= MOST_PER_CHALLENGE) return true
    payments.set(challengeId, seen.add(key))
    return false
  }

  return {
    begin: async (network) => {
      const counted: string[] = []
      const count = async (asker: string, limit: number): Promise<boolean> => {
        counted.push(asker)
        return (await counter.count(asker, 1)).consumed <= limit
      }
      const clear = (): void => {
        for (const asker of counted.splice(0)) void counter.count(asker, -1)
      }
      const isWithin = await count(`payment:${network}`, MOST_PER_ADDRESS)

      async function hasFunds({ funds }: Gateway, proof: Proof, { price }: Offer): Promise<boolean> {
        if (!(await funds.has(proof, parseUnits(price, CURRENCY_DECIMALS)))) return false
        return proof.mode === 'push' || (await count(`payer:${proof.payer}`, MOST_PER_PAYER))
      }

      return {
        clear,
        refused: (proof, refusal) => remember(keyOf(proof), refusal),
        refusalOf: (error) => (isWithin ? error : new TooManyPaymentsError()),
        admit: async (gateway, proof, offer) => {
          const key = keyOf(proof)
          const failure = await failures.find(key)
          if (failure) throw isWithin ? new RefusedPayment(failure) : new TooManyPaymentsError()
          const waiting = proof.mode === 'push' ? undecided.get(key) : undefined
          if (waiting === undefined && isWithin && !isOneTooMany(proof, key)) return
          if (await hasFunds(gateway, proof, offer)) return
          if (waiting === undefined) throw new TooManyPaymentsError()
          // Its payer waits for a block: that is compared without a look-up, and counts once.
          clear()
          throw new RefusedPayment(waiting)
        },
      }
    },
  }
}
