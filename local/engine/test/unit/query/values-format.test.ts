import { expect, test } from 'vitest'
import { mayHaveExpressions } from '../../../query/values-format.js'

test('ordinary values and expressions are evaluated', () => {
  for (const rows of ["(1, 'a')", "(now(), concat('a', 'b'))", `('say "hello"')`, "('a file (x)')"]) {
    expect(mayHaveExpressions(Buffer.from(rows)), rows).toBe(true)
  }
})

test('rows that could access a file are read as plain values', () => {
  for (const rows of [
    "(file('/etc/passwd'))",
    "(`file`('/etc/passwd'))",
    `("\\x66ile"('/etc/passwd'))`,
    "((SELECT x FROM format(Values, 'x String', '(fi' 'le(1))')))",
    "((SELECT x FROM `for\\x6dat`(Values, 'x String', '')))",
    `('a' "unclosed)`,
  ]) {
    expect(mayHaveExpressions(Buffer.from(rows)), rows).toBe(false)
  }
})
