import { createHash } from 'node:crypto'

/** Of a body and coding: strong, as bodies in different codings are different bytes. */
export const etagOf = (digest: string, coding: string): string =>
  coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`

/** The part of an ETag that all codings of a body have in common. */
export const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('base64url').slice(0, 27)

/**
 * The ETag in an If-None-Match header that names the body, in whatever coding the client holds it; null when none does.
 * The comparison is the weak one (RFC 9110, 13.1.2): caches that compress on their way mark the tag with W/.
 */
export function matchingEtag(ifNoneMatch: string, digest: string): string | null {
  if (ifNoneMatch.trim() === '*') return etagOf(digest, 'identity')
  for (const [, tag = ''] of ifNoneMatch.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) {
    if (
      tag === `"${digest}"` ||
      (tag.startsWith(`"${digest}-`) && /^-(br|zstd|gzip)"$/.test(tag.slice(digest.length + 1)))
    )
      return tag
  }
  return null
}
