import { badRequest, EngineError } from '../engine/errors.js'

type Source = { read(): Promise<Buffer | undefined> }

/** One part of a form. A part with a `filename`, even an empty one, is a file. */
export type Part = { name: string; isFile: boolean; read(): Promise<Buffer | undefined> }

const headEnd = '\r\n\r\n'
const maxHeadBytes = 16 * 1024

/** Reads the parts of a multipart/form-data body (RFC 7578) in order. */
export class Multipart {
  readonly #source: Source
  readonly #delimiter: Buffer
  /** Begins with a line break, because every delimiter but the first follows one. */
  #held: Buffer = Buffer.from('\r\n')
  /** Whether the position is in the content of a part, or before the first part. */
  #isInContent = true

  /** Throws if the content type has no boundary. */
  constructor(source: Source, contentType: string) {
    const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
    const boundary = quoted ?? bare
    if (boundary === undefined) throw badRequest('The multipart body has no boundary')
    this.#source = source
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /**
   * The next part, after skipping the rest of the current one; undefined after the last. Throws if the body is
   * truncated.
   */
  async next(): Promise<Part | undefined> {
    while (await this.#readContent());
    await this.#need(2)
    if (this.#held.subarray(0, 2).toString() === '--') return undefined
    const head = await this.#head()
    const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? ''
    const name = parameter(disposition, 'name') ?? '_data'
    this.#isInContent = true
    return { name, isFile: parameter(disposition, 'filename') !== undefined, read: () => this.#readContent() }
  }

  /** The next available content; undefined at the end of the part, when its delimiter has been read. */
  async #readContent(): Promise<Buffer | undefined> {
    while (this.#isInContent) {
      const at = this.#held.indexOf(this.#delimiter)
      // The last bytes may be the beginning of a delimiter.
      const end = at >= 0 ? at : Math.max(0, this.#held.length - this.#delimiter.length + 1)
      if (end > 0) {
        const content = this.#held.subarray(0, end)
        this.#held = this.#held.subarray(end)
        return content
      }
      if (at === 0) {
        this.#held = this.#held.subarray(this.#delimiter.length)
        this.#isInContent = false
      } else await this.#readMore()
    }
    return undefined
  }

  async #head(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(headEnd)
      if (end >= 0) {
        const head = this.#held.subarray(0, end).toString()
        this.#held = this.#held.subarray(end + headEnd.length)
        return head
      }
      if (this.#held.length > maxHeadBytes) throw badRequest(`The head of a part may have up to ${maxHeadBytes} bytes`)
      await this.#readMore()
    }
  }

  async #need(size: number): Promise<void> {
    while (this.#held.length < size) await this.#readMore()
  }

  async #readMore(): Promise<void> {
    const chunk = await this.#source.read()
    if (!chunk) {
      const text = 'Unexpected EOF, did not find the last boundary while parsing a multipart HTTP request'
      throw EngineError.of(33, 'CANNOT_READ_ALL_DATA', text)
    }
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
  }
}

function parameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(disposition)
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2]
}
