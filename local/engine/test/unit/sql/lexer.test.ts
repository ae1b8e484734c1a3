import { expect, test } from 'vitest'
import { tokenize, unquote } from '../../../sql/lexer.js'

const texts = (sql: string) => tokenize(sql).map(({ start, end }) => sql.slice(start, end))
const kinds = (sql: string) => tokenize(sql).map(({ kind }) => kind)

test('comments of every kind contain no tokens', () => {
  expect(texts('a -- ; b\nc // ; d\ne # ; f\n#! ; g\nh /* ; /* ; */ ; */ i')).toEqual(['a', 'c', 'e', 'h', 'i'])
})

test('a hash is a comment only before a blank or an exclamation mark', () => {
  expect(texts('a #b')).toEqual(['a', '#', 'b'])
})

test('quotes end at the same quote, unless it is escaped or doubled', () => {
  expect(texts(`'a;''b\\';' "c;""\\"" \`d;\`\`\\\`\``)).toEqual([`'a;''b\\';'`, `"c;""\\""`, '`d;``\\``'])
})

test('hexadecimal and binary strings have no escapes', () => {
  expect(texts(`x'1f'';'`)).toEqual([`x'1f'`, `';'`])
  expect(kinds(`b'01\\' ; '`)).toEqual(['error'])
})

test('a heredoc ends at its tag', () => {
  expect(texts('$a$ ; $b$ $a$ x')).toEqual(['$a$ ; $b$ $a$', 'x'])
  expect(texts('$$;$$ x')).toEqual(['$$;$$', 'x'])
})

test('an unclosed heredoc is part of a word', () => {
  expect(texts('a$b $c ;')).toEqual(['a$b', '$c', ';'])
})

test('unclosed quotes and characters that the engine treats specially are errors', () => {
  for (const sql of [`'a`, '"a', '`a', '/* a', '/* /* */', "x'0", '‘a’', '“a”', 'a \\G', 'a \0 b', "'a\\"]) {
    expect(kinds(sql), sql).toContain('error')
  }
})

test('characters that the engine may treat as blanks separate words', () => {
  expect(texts('INTO\u3000OUTFILE\u00a0x')).toEqual(['INTO', 'OUTFILE', 'x'])
})

test('unquote decodes escapes and doubled quotes', () => {
  expect(unquote(`"\\x66ile"`)).toBe('file')
  expect(unquote('`a``b\\`c`')).toBe('a`b`c')
  expect(unquote(`'a''b\\n\\q'`)).toBe(`a'b\nq`)
})

test('any text is split into consecutive tokens that leave out only blanks and comments', () => {
  const random = seeded(1)
  const pieces = [
    `'`,
    '"',
    '`',
    '\\',
    ';',
    '$',
    '$a$',
    '--',
    '/*',
    '*/',
    '#',
    '\n',
    ' ',
    'x',
    "x'1'",
    '1e-5',
    '(',
    '’',
    'é',
    '\0',
  ]
  for (let round = 0; round < 20_000; round++) {
    const sql = Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join('')
    const tokens = tokenize(sql)
    const isOrdered = tokens.every(({ start, end }, i) => start >= (tokens[i - 1]?.end ?? 0) && end > start)
    if (!isOrdered || (tokens.at(-1)?.end ?? 0) > sql.length) expect.fail(JSON.stringify({ sql, tokens }))
  }
})

function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
