import { badRequest, EngineError } from '../engine/errors.js'

type Source = { read(): Promise<Buffer | undefined> }

/** One part of a form. A file has a `filename`, be it an empty one. */
export type Part = { name: string; isFile: boolean; read(): Promise<Buffer | undefined> }

const headEnd = '\r\n\r\n'
const maxHeadBytes = 16 * 1024

/** The parts of a multipart/form-data body (RFC 7578) as they come. A part has to be read to its end before the next. */
export class Multipart {
  readonly #source: Source
  readonly #delimiter: Buffer
  /** As if the first delimiter stood at the start of a line as well. */
  #held: Buffer = Buffer.from('\r\n')
  /** Of a part, or before the first. */
  #isInContent = true

  /** Throws for a content type without a boundary. */
  constructor(source: Source, contentType: string) {
    const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
    const boundary = quoted ?? bare
    if (boundary === undefined) throw badRequest('The multipart body has no boundary')
    this.#source = source
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /** Undefined behind the last part. Throws when the body is cut off. */
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

  /** What is there of the content before the next delimiter; undefined when that is next, which it then has read. */
  async #readContent(): Promise<Buffer | undefined> {
    while (this.#isInContent) {
      const at = this.#held.indexOf(this.#delimiter)
      // A delimiter may have begun in the last bytes.
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
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(disposition)
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2]
}
