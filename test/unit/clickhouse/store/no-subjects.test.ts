import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from '@swc/core'
import { expect, test } from 'vitest'
import { tables } from '../../../../clickhouse/tables.js'

const STORE = join(import.meta.dirname, '../../../../clickhouse/store')

/** The strings and parts of templates of a program, and its identifiers in snake case. */
function textsIn(program: string): string[] {
  const texts: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, value, raw } = node as { type?: string; value?: string; raw?: string }
    if (type === 'StringLiteral' || (type === 'Identifier' && value?.includes('_'))) texts.push(value ?? '')
    if (type === 'TemplateElement') texts.push(raw ?? '')
    for (const part of Object.values(node)) visit(part)
  }
  visit(parseSync(program, { syntax: 'typescript' }))
  return texts
}

/** The tables that a program names as a string or key, or in SQL. */
function tablesIn(program: string): string[] {
  const names = textsIn(program).flatMap((text) => [
    text,
    ...[...text.matchAll(/\b(?:FROM|JOIN|INTO|TABLE|REPLICA)\s+(\w+)/g)].map(([, name]) => name),
  ])
  return tables.map(({ name }) => name).filter((name) => names.includes(name))
}

test('a table that is named in a string or in SQL is found, and a word of the language is not', () => {
  expect(tablesIn("const current = new Set(['events'])")).toEqual(['events'])
  expect(tablesIn("const times = { peg_breaks: 'slot_at' }")).toEqual(['peg_breaks'])
  expect(tablesIn('const sql = `SELECT 1 FROM peg_samples WHERE 1`')).toEqual(['peg_samples'])
  expect(tablesIn("/** Reads `blocks`. */ const blocks = 'a number of blocks' // of blocks")).toEqual([])
})

test.for(readdirSync(STORE))('store/%s names no table of a subject', (file) => {
  expect(tablesIn(readFileSync(join(STORE, file), 'utf8'))).toEqual([])
})
