import { identifier, isKeyword, type Token, tokenize, unquote } from './lexer.js'

/** The settings in a statement's own SETTINGS clauses, by name, without those of subselects. The last value wins. */
export function settingsClause(sql: string): Record<string, string> {
  if (!/settings/i.test(sql)) return {}
  const tokens = tokenize(sql)
  const depths = depthsOf(sql, tokens)
  const settings: Record<string, string> = {}
  let isInClause = false
  for (let i = 0; i < tokens.length; i++) {
    if (depths[i] !== 0) continue
    if (isKeyword(sql, tokens[i], 'SETTINGS')) isInClause = true
    else if (symbol(sql, tokens[i]) !== ',') isInClause = false
    const name = tokens[i + 1]
    if (!isInClause || name === undefined || symbol(sql, tokens[i + 2]) !== '=') continue
    const from = i + 3
    let to = from
    while (to < tokens.length && !endsValue(sql, tokens, depths, from, to)) to++
    if (to === from) continue
    settings[identifier(sql, name)] = literalOf(sql, tokens.slice(from, to))
    // Continues with the comma or clause after the value.
    i = to - 1
  }
  return settings
}

function endsValue(
  sql: string,
  tokens: readonly Token[],
  depths: readonly number[],
  from: number,
  at: number,
): boolean {
  if (depths[at] !== 0) return false
  const isComma = symbol(sql, tokens[at]) === ','
  const isNextClause =
    at > from && ['FORMAT', 'INTO', 'SETTINGS', 'VALUES'].some((word) => isKeyword(sql, tokens[at], word))
  return isComma || isNextClause
}

function literalOf(sql: string, tokens: readonly Token[]): string {
  const [first, last] = [tokens[0] as Token, tokens.at(-1) as Token]
  const text = sql.slice(first.start, last.end)
  return tokens.length === 1 && first.kind === 'string' ? unquote(text) : text
}

function depthsOf(sql: string, tokens: readonly Token[]): number[] {
  let depth = 0
  return tokens.map((token) => {
    const c = symbol(sql, token)
    if (c === ')' || c === ']' || c === '}') return depth--
    return c === '(' || c === '[' || c === '{' ? ++depth : depth
  })
}

const symbol = (sql: string, token: Token | undefined) => (token?.kind === 'symbol' ? sql[token.start] : undefined)
