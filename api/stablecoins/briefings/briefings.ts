import { z } from 'zod'
import { PlumblineError } from '../../../process/errors.js'
import { isoSeconds } from '../../../process/instants.js'
import tempo from './4217.json' with { type: 'json' }
import { tokens } from './ratings.js'

type Facts = {
  currency: string
  tier: 'listed' | 'unlisted'
  supply: { current: string; cap: string | null } | null
}
type Origin = { block_number: number; created_at: Date; admin: string }

/**
 * A briefing on a stable without a curated one: what the chain records, and that it records no more. The token's own
 * texts are not repeated, because anyone can name a token anything.
 */
export function measuredBriefing(
  { currency, tier, supply }: Facts,
  { block_number, created_at, admin }: Origin,
): { origin: string; backing: string; issuer_context: string } {
  const when = isoSeconds(created_at)
  const origin =
    block_number === 0
      ? `Part of the chain since its genesis block, ${when}.`
      : `Created by the token factory in block ${block_number}, ${when}.`
  const worth =
    currency === 'USD' ? 'The token declares USD as its currency.' : 'The token declares a currency other than USD.'
  const list =
    tier === 'listed' ? "It is on the chain's public token list." : "It is not on the chain's public token list."
  const creator = admin === '' ? 'The chain does not record its first admin.' : `${admin} was its first admin.`
  const issued = supply === null ? 'Its supply has not been read yet.' : `${tokens(supply.current)} tokens are issued.`
  return {
    origin: `${origin} ${worth} ${list}`,
    backing: 'not-stated',
    issuer_context: `There is no curated information about its issuer. ${creator} ${issued} What backs it cannot be read from the chain.`,
  }
}

const prose = z.string().min(20).max(1000)

/** A briefing that an editor wrote, and its sources. */
const CuratedBriefing = z.strictObject({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  symbol: z.string().min(1),
  origin: prose,
  backing: z.enum([
    'protocol-native',
    'fiat-reserves',
    'tokenized-treasuries',
    'bridged',
    'basket-of-stables',
    'synthetic',
    'not-stated',
  ]),
  issuer_context: prose,
  sources: z.array(z.strictObject({ title: z.string().min(5), url: z.url({ protocol: /^https$/ }) })).min(1),
  /** The day on which the sources were last reviewed. */
  reviewed_on: z.iso.date(),
})
type CuratedBriefing = z.infer<typeof CuratedBriefing>

const Briefings = z
  .array(CuratedBriefing)
  .refine((all) => new Set(all.map(({ address }) => address)).size === all.length, 'has a stable twice')

/** A file of briefings is invalid, so there is nothing to answer with. */
class BriefingError extends PlumblineError {
  constructor(chainId: number, cause: z.ZodError) {
    super(`the briefings of chain ${chainId}: ${z.prettifyError(cause)}`, { retryable: false, cause })
  }
}

export type CuratedBriefings = { of: (chainId: number, address: string) => CuratedBriefing | null }

const FILES: ReadonlyArray<readonly [number, unknown]> = [[4217, tempo]]

/** The briefings of all chains by chain id, looked up by address in lower case. Throws BriefingError for a bad file. */
export function curatedBriefings(files: typeof FILES = FILES): CuratedBriefings {
  const byStable = new Map<string, CuratedBriefing>()
  for (const [chainId, content] of files) {
    const { data, error } = Briefings.safeParse(content)
    if (error) throw new BriefingError(chainId, error)
    for (const briefing of data) byStable.set(`${chainId} ${briefing.address}`, briefing)
  }
  return { of: (chainId, address) => byStable.get(`${chainId} ${address}`) ?? null }
}
