import { unquote } from './lexer.js'

/** A node of the engine's syntax tree: its kind, such as `Function`, and the rest of its line, such as `plus`. */
export type Node = { kind: string; text: string; children: Node[] }

/** Kinds whose names have blanks; of all others, the first word is the kind. */
const kindsOfWords = /^(Columns definition|Storage definition|SYSTEM query|View SQL Security|Dictionary \w+)/

/**
 * Reads the output of EXPLAIN AST: a line for each node, indented by its depth, with the number of its children. Undefined
 * unless every node has exactly as many children as its line says. So a name that contains line breaks, which the engine
 * writes as they are, cannot add a node or move another one: it could only have children of its own, and whoever judges
 * the tree accepts no children below a name.
 */
export function parseTree(output: string): Node | undefined {
  const root: Node & { expected: number } = { kind: '', text: '', children: [], expected: 1 }
  const open = [root]
  for (const line of output.replace(/\n+$/, '').split('\n')) {
    const depth = /^ */.exec(line)?.[0].length ?? 0
    if (depth + 1 > open.length) return undefined
    for (const closed of open.splice(depth + 1)) if (closed.children.length !== closed.expected) return undefined
    const [, id = '', count = '0'] = /^([\s\S]*?)(?: \(children (\d+)\))?$/.exec(line.slice(depth)) ?? []
    const kind = kindsOfWords.exec(id)?.[0] ?? id.split(' ', 1)[0] ?? ''
    const node = { kind, text: id.slice(kind.length + 1), children: [], expected: Number(count) }
    open.at(-1)?.children.push(node)
    open.push(node)
  }
  if (open.some(({ children, expected }) => children.length !== expected)) return undefined
  return root.children[0]
}

/** The name of a Function, Identifier or TableIdentifier, without its alias. */
export const nameOf = ({ text }: Node): string => text.replace(/ \(alias [\s\S]*$/, '')

/** The alias of an expression, if it has one. */
export const aliasOf = ({ text }: Node): string | undefined => / \(alias ([\s\S]*)\)$/.exec(text)?.[1]

/** The value of a literal that is a string; undefined for any other node. */
export function stringOf(node: Node | undefined): string | undefined {
  if (node?.kind !== 'Literal') return undefined
  const quoted = /^'(?:[^'\\]|\\[\s\S])*'/.exec(node.text)?.[0]
  const rest = quoted === undefined ? undefined : node.text.slice(quoted.length)
  return quoted !== undefined && (rest === '' || rest?.startsWith(' (alias ')) ? unquote(quoted) : undefined
}

/** The arguments of a function: not the parameters in its first brackets if it has two pairs. */
export const argumentsOf = ({ children }: Node): Node[] =>
  children[0]?.kind === 'ExpressionList' ? children[0].children : []
