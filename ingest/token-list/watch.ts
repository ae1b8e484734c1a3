import type { Logger } from 'pino'
import type { Network } from '../chain/networks.js'
import type { TipMetrics } from '../metrics.js'
import { listAge } from './age.js'
import { BadTokenListError, type ListedTokens, parseTokenList, tokensOfChain } from './format.js'
import { shownLocation, type TokenListLocation } from './location.js'
import { fetchList, type ListText, readListFile, UnreachableListError } from './read.js'
import { shippedTokens } from './shipped.js'

/** How often a list is checked for changes, in milliseconds. */
const CHECK_MS = { url: 3_600_000, file: 10_000 }

/** The token list in use. It changes only between batches, when whoever reads blocks asks. */
export type TokenListWatch = {
  /** The listed tokens from now on; null if no list could be read yet. */
  take: () => ListedTokens | null
  /** What is wrong in a list that could be read, but not be used; null if it was not wrong. */
  wrong: () => BadTokenListError | null
  /** Whether other tokens are listed than were taken last. Begins a check in the background if one is due. */
  hasChanged: () => boolean
}

type Watch = {
  /** undefined for the list that comes with this version. */
  location: TokenListLocation | undefined
  network: Network
  chainId: number
  log: Logger
  signal: AbortSignal
  metrics?: Pick<TipMetrics, 'tokenListCurrent' | 'tokenListRefused'> | undefined
  checkMs?: number | undefined
}

const NO_TOKENS: ReadonlySet<string> = new Set()

/**
 * Reads the token list, and follows its changes. Throws BadTokenListError if a file is wrong now. A list that is wrong or
 * cannot be read later is reported, and the last good one stays.
 */
export async function watchTokenList(watch: Watch): Promise<TokenListWatch> {
  const { location, chainId } = watch
  if (location !== undefined) return watchLocation(watch, location)
  const shipped = shippedTokens(chainId)
  if (shipped) noteStart(watch, shipped, shipped.made_at)
  const tokens = shipped ?? { addresses: NO_TOKENS, source: 'none', made_at: new Date(0) }
  return { take: () => tokens, wrong: () => null, hasChanged: () => false }
}

async function watchLocation(watch: Watch, location: TokenListLocation): Promise<TokenListWatch> {
  const { chainId, log, metrics, signal } = watch
  const interval = watch.checkMs ?? ('url' in location ? CHECK_MS.url : CHECK_MS.file)
  let newest: ListedTokens | null = null
  let taken: ListedTokens | null = null
  let version: string | null = null
  let problem: string | null = null
  let wrong: BadTokenListError | null = null
  let checkedAt = performance.now()
  let isChecking = false

  const read = async (): Promise<void> => {
    const answer = await readList(location, version, signal)
    if (answer) {
      newest = tokensOfChain(chainId, parseTokenList(answer.text))
      version = answer.version
    }
    if (newest) metrics?.tokenListCurrent(currentAt(location, newest))
    problem = null
    wrong = null
  }
  const refuse = (error: unknown): void => {
    if (signal.aborted) return
    wrong = error instanceof BadTokenListError ? error : null
    metrics?.tokenListRefused(error instanceof BadTokenListError ? 'wrong' : 'unreachable')
    const reason = error instanceof Error ? error.message : String(error)
    if (reason === problem) return
    problem = reason
    log.warn({ list: shownLocation(location), reason }, 'the token list cannot be used: the last good one stays')
  }
  const check = async (): Promise<void> => {
    isChecking = true
    await read().catch(refuse)
    checkedAt = performance.now()
    isChecking = false
  }

  try {
    await read()
    if (newest) noteStart(watch, newest, currentAt(location, newest))
  } catch (error) {
    // Whoever serves a URL may serve a wrong answer for an hour; a file is the operator's own.
    if (!(error instanceof UnreachableListError || 'url' in location)) throw error
    refuse(error)
  }
  return {
    take: () => {
      taken = newest
      return newest
    },
    wrong: () => wrong,
    hasChanged: () => {
      if (!isChecking && performance.now() - checkedAt >= interval) void check()
      return newest !== null && !hasSameTokens(newest, taken)
    },
  }
}

const readList = async (
  location: TokenListLocation,
  version: string | null,
  signal: AbortSignal,
): Promise<ListText | null> =>
  'url' in location ? fetchList(location.url, { version, signal }) : readListFile(location.path, version)

/** When a list last was the newest: that of a URL is so whenever it is read, of a file nothing is known but its date. */
const currentAt = (location: TokenListLocation, tokens: ListedTokens): Date =>
  'url' in location ? new Date() : tokens.made_at

const hasSameTokens = (a: ListedTokens, b: ListedTokens | null): boolean =>
  b !== null && a.addresses.size === b.addresses.size && [...a.addresses].every((address) => b.addresses.has(address))

/** Logs which list ingest starts with, and warns of an old one. A local chain's list has no age that matters. */
function noteStart({ network, location, log, metrics }: Watch, tokens: ListedTokens, current_at: Date): void {
  metrics?.tokenListCurrent(current_at)
  const { days, isOld } = listAge(current_at, new Date())
  const { source, addresses } = tokens
  const list = location === undefined ? 'shipped' : shownLocation(location)
  const noted = { list, source, tokens: addresses.size, made_at: tokens.made_at, age_days: days }
  if (network !== 'devnet' && isOld)
    log.warn(noted, `the token list is ${days} days old, and newer tokens are unlisted: set TOKEN_LIST to a newer one`)
  else log.info(noted, 'read the token list')
}
