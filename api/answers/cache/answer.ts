import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import { AS_OF_HEADER } from '../as-of.js'
import { CODINGS, type Coding, encode } from './encodings.js'
import type { Freshness } from './policies.js'

/** The ETag of a body in a coding: strong, because codings differ in bytes. */
export const etagOf = (digest: string, coding: string): string =>
  coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`

/** The part of an ETag that all codings of a body have in common. */
export const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('base64url').slice(0, 27)

/**
 * The ETag in an If-None-Match header that names the body, in any coding; null if none does. The comparison is weak
 * (RFC 9110, 13.1.2), because caches that compress mark the tag with W/.
 */
export function matchingEtag(ifNoneMatch: string, digest: string): string | null {
  if (ifNoneMatch.trim() === '*') return etagOf(digest, 'identity')
  for (const [, tag = ''] of ifNoneMatch.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) {
    if (['identity', ...CODINGS].some((coding) => tag === etagOf(digest, coding))) return tag
  }
  return null
}

/**
 * A body as it is sent, with the headers that belong to it. ASCII bodies are strings: Node writes them together with
 * the headers, at half the cost of a separate buffer.
 */
export type Variant = {
  body: Buffer | string
  etag: string
  headers: Record<string, string>
  /** Its rendered heads, by status, once the answer was sent with them; see the fast lane. */
  heads: { 200?: string; 304?: string }
}

/** Shorter bodies fit in one packet anyway. */
const WORTH_COMPRESSING = 1024

/** An answer that is rendered once and sent many times. */
export class Answer {
  readonly body: Buffer
  /** The instant of the answer, as in the header; null in a live answer. */
  readonly asOf: string | null
  readonly freshness: Freshness
  readonly digest: string
  /** The headers of every coding, and of a 304. */
  readonly headers: Record<string, string>
  readonly #variants = new Map<Coding, Variant>()
  readonly #encoding = new Map<Coding, Promise<Variant>>()

  constructor(body: Buffer, asOf: string | null, freshness: Freshness) {
    this.body = body
    this.asOf = asOf
    this.freshness = freshness
    this.digest = digestOf(body)
    this.headers = {
      'cache-control': freshness.cacheControl,
      vary: 'Accept-Encoding',
      ...(asOf !== null && { [AS_OF_HEADER]: asOf }),
    }
    this.#variants.set('identity', this.#variant(isAscii(body) ? body.toString('latin1') : body, 'identity'))
  }

  /**
   * Upper bound of its memory, in bytes: the compressed bodies together are not longer than the body, nor is its
   * string; headers and heads are short.
   */
  get size(): number {
    return 3 * this.body.length + 4096
  }

  /** The body in a coding, if it exists already; short bodies have only one. */
  made(coding: Coding): Variant | undefined {
    return this.#variants.get(this.#codingFor(coding))
  }

  /** The body in a coding, encoded at the first call. */
  async variant(coding: Coding): Promise<Variant> {
    const wanted = this.#codingFor(coding)
    const made = this.#variants.get(wanted)
    if (made || wanted === 'identity') return made as Variant
    const encoding =
      this.#encoding.get(wanted) ??
      encode(this.body, wanted).then((body) => {
        const variant = this.#variant(body, wanted)
        this.#variants.set(wanted, variant)
        return variant
      })
    this.#encoding.set(wanted, encoding)
    return encoding
  }

  #codingFor(coding: Coding): Coding {
    return this.body.length < WORTH_COMPRESSING ? 'identity' : coding
  }

  #variant(body: Buffer | string, coding: Coding): Variant {
    const etag = etagOf(this.digest, coding)
    return {
      body,
      etag,
      heads: {},
      headers: {
        'content-type': 'application/json; charset=utf-8',
        etag,
        ...this.headers,
        ...(coding !== 'identity' && { 'content-encoding': coding }),
      },
    }
  }
}
