import { z } from 'zod'
import { BadTokenListError, parseTokenList } from './format.js'
import { readListFile } from './read.js'

/** Where a token list is: at a URL, or in a file. */
export type TokenListLocation = { url: URL } | { path: string }

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a list may be read from a URL: by https; by http only from this machine, since anybody on the way could change it. */
const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname))

/** A location as it may be printed: of a URL only the origin, since the rest may contain a secret. */
export const shownLocation = (location: TokenListLocation): string =>
  'url' in location ? location.url.origin : location.path

/**
 * The location of a token list in an environment variable. A file is read and checked here, so that one error shows all
 * that is wrong in it and in the other variables; a URL is read later.
 */
export const tokenListLocation = z.string().transform((text, context): TokenListLocation => {
  const problem = (message: string) => context.issues.push({ code: 'custom', message, input: text })
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    if (URL.canParse(text) && isSafe(new URL(text))) return { url: new URL(text) }
    problem('must be a URL that starts with https:// (http:// only for this machine), or the path of a file')
    return z.NEVER
  }
  try {
    parseTokenList(readListFile(text).text)
    return { path: text }
  } catch (error) {
    for (const message of error instanceof BadTokenListError ? error.problems : [(error as Error).message])
      problem(message)
    return z.NEVER
  }
})
