import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import { AS_OF_HEADER } from '../as-of.js'
import { type Coding, encode } from './encodings.js'
import type { Freshness } from './policies.js'

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

/**
 * A body as it goes over the wire, with the headers that belong to it. What is ASCII goes as text: it is written together
 * with the headers, at half the cost of a buffer behind them.
 */
export type Variant = {
  body: Buffer | string
  etag: string
  headers: Record<string, string>
}

/** Shorter bodies fit in one packet anyway. */
const WORTH_COMPRESSING = 1024

/** An answer that is rendered once and given many times. */
export class Answer {
  readonly body: Buffer
  /** The instant that it is about, as the header repeats it; null where it is about now. */
  readonly asOf: string | null
  readonly freshness: Freshness
  readonly digest: string
  /** The headers that it has in every coding, and in a 304. */
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
   * What it takes in memory at most, in bytes: compressed bodies together are not longer than the body, nor is its text;
   * heads are short.
   */
  get size(): number {
    return 3 * this.body.length + 4096
  }

  /** The body in a coding, if that has been made; short bodies have but one. */
  made(coding: Coding): Variant | undefined {
    return this.#variants.get(this.#codingFor(coding))
  }

  /** The body in a coding, made at the first call. */
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
      headers: {
        'content-type': 'application/json; charset=utf-8',
        etag,
        ...this.headers,
        ...(coding !== 'identity' && { 'content-encoding': coding }),
      },
    }
  }
}
