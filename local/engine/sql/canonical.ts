import { identifier, type Token, tokenize } from './lexer.js'

/**
 * A statement as the engine's own formatter writes it: one spelling for each syntax tree, with upper-case keywords and
 * without comments. It shows what the printed tree leaves out, such as the names of settings.
 */
export class Canonical {
  readonly text: string
  readonly tokens: readonly Token[]

  constructor(text: string) {
    this.text = text
    this.tokens = tokenize(text)
  }

  /** The word or symbol at a position; a quoted name or a string is neither. */
  word(at: number): string | undefined {
    const token = this.tokens[at]
    return token?.kind === 'word' || token?.kind === 'symbol' ? this.text.slice(token.start, token.end) : undefined
  }

  /** The name that a token denotes, quoted or not. */
  name(at: number): string | undefined {
    const token = this.tokens[at]
    return token?.kind === 'word' || token?.kind === 'name' ? identifier(this.text, token) : undefined
  }

  /** Whether these keywords stand together anywhere. */
  has(...keywords: string[]): boolean {
    return this.tokens.some((_, at) => this.isAt(at, ...keywords))
  }

  /** Whether these keywords begin at a position. The formatter writes keywords in upper case only. */
  isAt(at: number, ...keywords: string[]): boolean {
    return keywords.every((keyword, i) => this.tokens[at + i]?.kind === 'word' && this.word(at + i) === keyword)
  }

  /** Position behind `[db.]name`, with both. Undefined if there is no name. */
  path(at: number): { database: string | undefined; name: string; end: number } | undefined {
    const first = this.name(at)
    if (first === undefined) return undefined
    const second = this.word(at + 1) === '.' ? this.name(at + 2) : undefined
    if (second === undefined) return { database: undefined, name: first, end: at + 1 }
    return { database: first, name: second, end: at + 3 }
  }

  /** The names in every list of settings, at any depth: `SETTINGS a = 1, b = 2`, `SET a = 1`, `MODIFY SETTING a = 1`. */
  settings(): string[] {
    const starts = this.tokens.flatMap((_, at) =>
      this.isAt(at, 'SETTINGS') || this.isAt(at, 'SETTING') || (at === 0 && this.isAt(0, 'SET')) ? [at + 1] : [],
    )
    return starts.flatMap((at) => this.#list(this.word(at) === '(' ? at + 1 : at))
  }

  #list(from: number): string[] {
    const names: string[] = []
    for (let at = from; ; at++) {
      const name = this.name(at)
      if (name === undefined || this.word(at + 1) !== '=') return names
      names.push(name)
      at = this.#valueEnd(at + 2)
      if (this.word(at) !== ',') return names
    }
  }

  /** Position of the comma, the closing bracket or the keyword after a value. */
  #valueEnd(from: number): number {
    let depth = 0
    for (let at = from; at < this.tokens.length; at++) {
      const word = this.word(at)
      if (word !== undefined && '([{'.includes(word)) depth++
      if (word !== undefined && ')]}'.includes(word) && --depth < 0) return at
      if (depth > 0 || at === from) continue
      if (word === ',' || (this.tokens[at]?.kind === 'word' && /^[A-Z]{2,}$/.test(word ?? ''))) return at
    }
    return this.tokens.length
  }
}
