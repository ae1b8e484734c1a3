import { isAscii } from 'node:buffer'
import { AS_OF_HEADER } from '../as-of-query.js'
import { type Coding, encode } from './encodings.js'
import { digestOf, etagOf } from './etag.js'
import type { Freshness } from './freshness.js'

/**
 * A body as it goes over the wire, with the headers that belong to it. What is ASCII goes as text: it is written together
 * with the headers, at half the cost of a buffer behind them.
 */
export type Variant = {
  body: Buffer | string
  etag: string
  headers: Record<string, string>
  /** By status, what it was sent with, once it was. */
  heads: { 200: string | null; 304: string | null }
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
      heads: { 200: null, 304: null },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        etag,
        ...this.headers,
        ...(coding !== 'identity' && { 'content-encoding': coding }),
      },
    }
  }
}
