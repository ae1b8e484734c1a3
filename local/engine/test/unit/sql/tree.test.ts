import { expect, test } from 'vitest'
import { nameOf, parseTree, stringOf } from '../../../sql/tree.js'

const tree = `SelectWithUnionQuery (children 1)
 ExpressionList (children 1)
  SelectQuery (children 1)
   ExpressionList (children 2)
    Function plus (alias x) (children 1)
     ExpressionList (children 2)
      Identifier a.b
      Literal 'it\\'s\\n' (alias y)
    Subquery (alias s)
`

test('a tree is read with kinds, names and aliases', () => {
  const list = parseTree(tree)?.children[0]?.children[0]?.children[0]
  const [sum, subquery] = list?.children ?? []
  expect(sum && nameOf(sum)).toBe('plus')
  expect(subquery?.kind).toBe('Subquery')
  const [name, text] = sum?.children[0]?.children ?? []
  expect(name && nameOf(name)).toBe('a.b')
  expect(stringOf(text)).toBe("it's\n")
  expect(stringOf(name)).toBeUndefined()
})

test('a name that pretends to be nodes makes the tree unreadable, or has the nodes below itself', () => {
  const withName = (name: string) =>
    `SelectWithUnionQuery (children 1)\n ExpressionList (children 2)\n  Identifier ${name}\n  Function file\n`
  expect(parseTree(withName('a'))).toBeDefined()
  for (const name of [
    'a (children 1)',
    'a\n  Literal 1',
    'a\n Literal 1',
    'a\nLiteral 1',
    'a\n   Literal 1',
    'a\n',
    'a (children 1)\n   Literal 1\n  Literal 2',
    'a (children 1)\n    Literal 1',
  ]) {
    expect(parseTree(withName(name)), name).toBeUndefined()
  }
  const below = parseTree(withName('a (children 1)\n   Literal 1'))
  expect(below?.children[0]?.children.map(({ kind, children }) => [kind, children.length])).toEqual([
    ['Identifier', 1],
    ['Function', 0],
  ])
})
