import { type Token, tokenize } from './lexer.js'

/**
 * Whether a structure, `name Type, …`, has names and types only: no default, no expression, no codec. Anything that is
 * not certain counts as more than that.
 */
export function isPlainStructure(structure: string): boolean {
  const tokens = tokenize(structure)
  let at = 0
  for (;;) {
    if (!isName(tokens[at]) || tokens[at + 1]?.kind !== 'word') return false
    at += 2
    if (symbol(structure, tokens[at]) === '(') {
      const end = typeEnd(structure, tokens, at)
      if (end === undefined) return false
      at = end
    }
    if (at === tokens.length) return true
    if (symbol(structure, tokens[at]) !== ',') return false
    at++
  }
}

/** Words that bring more than a name and a type into a declaration. */
const more = /^(default|materialized|alias|ephemeral|codec|ttl|comment|settings|statistics|primary|select|explain)$/i

/** The end of the brackets of a type, in which there may be names, types, numbers, strings and = (of an Enum). */
function typeEnd(structure: string, tokens: readonly Token[], open: number): number | undefined {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at] as Token
    const c = symbol(structure, token)
    if (c === '(') depth++
    else if (c === ')') {
      depth--
      if (depth === 0) return at + 1
    } else if (c !== undefined && !/[,=.-]/.test(c)) return undefined
    else if (token.kind === 'error' || token.kind === 'data') return undefined
    else if (token.kind === 'word' && more.test(structure.slice(token.start, token.end))) return undefined
  }
  return undefined
}

/** Whether a text could declare a column with an expression. */
export const mayDeclareMore = (text: string): boolean =>
  /default|materialized|alias|ephemeral|codec|ttl|comment|settings|statistics|primary/i.test(text)

const isName = (token: Token | undefined) => token?.kind === 'word' || token?.kind === 'name'
const symbol = (text: string, token: Token | undefined) => (token?.kind === 'symbol' ? text[token.start] : undefined)
