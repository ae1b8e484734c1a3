import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Directories that a build or a run creates: documents may name their contents. */
const GENERATED = new Set(['node_modules', 'dist', 'data'])
const FOLDERS = new Set(
  readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !GENERATED.has(entry.name))
    .map(({ name }) => name),
)

const markdownIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))

const DOCUMENTS = [
  ...[
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'SECURITY.md',
    'local/chain/README.md',
    'local/engine/README.md',
    'clients/typescript/README.md',
    'clients/mcp/README.md',
    'clients/python/README.md',
    'clients/cli/README.md',
  ],
  ...markdownIn('docs'),
]

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** The text without code blocks, in which brackets and backticks have other meanings. */
const proseOf = (file: string): string => textOf(file).replace(/^ *```[\s\S]*?^ *```$/gm, '')

/** The anchors that GitHub gives the headings of a file: a second heading of the same text ends with -1. */
function anchorsOf(file: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, title = ''] of proseOf(file).matchAll(/^#+ (.+)$/gm)) {
    const anchor = title
      .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-')
    let unique = anchor
    for (let i = 1; anchors.has(unique); i++) unique = `${anchor}-${i}`
    anchors.add(unique)
  }
  return anchors
}

/** Why a link of a document is broken; null if it is valid, or leads to the web. */
function faultOfLink(file: string, target: string): string | null {
  if (/^[a-z]+:/.test(target)) return null
  const [path = '', anchor] = target.split('#')
  const linked = path === '' ? file : normalize(join(dirname(file), path))
  if (!existsSync(join(ROOT, linked))) return `${file}: there is no ${target}`
  if (anchor !== undefined && !anchorsOf(linked).has(anchor)) return `${file}: there is no heading for ${target}`
  return null
}

/** Whether inline code is a path from the root of the repository. */
const isPath = (code: string): boolean => /^[\w.-]+(\/[\w.-]+)*\/?$/.test(code) && FOLDERS.has(code.split('/')[0] ?? '')

test('every relative link leads to a file, and its anchor to a heading', () => {
  const faults = DOCUMENTS.flatMap((file) =>
    [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => faultOfLink(file, target)),
  )
  expect(faults.filter((fault) => fault !== null)).toEqual([])
  expect(faults.length).toBeGreaterThan(50)
})

test('every path that the documents name exists', () => {
  const paths = DOCUMENTS.flatMap((file) =>
    [...proseOf(file).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => [file, code] as const),
  ).filter(([, code]) => code.includes('/') && isPath(code))
  expect(paths.filter(([, path]) => !existsSync(join(ROOT, path))).map(([file, path]) => `${file}: ${path}`)).toEqual(
    [],
  )
  expect(paths.length).toBeGreaterThan(100)
})

test('every command that the documents name is a script of the package', () => {
  const { scripts } = JSON.parse(textOf('package.json'))
  const commands = DOCUMENTS.flatMap((file) =>
    [...textOf(file).matchAll(/npm run (\w[\w:-]*)/g)].map(([, name]) => name),
  )
  expect([...new Set(commands)].filter((name) => name !== undefined && !(name in scripts))).toEqual([])
  expect(commands.length).toBeGreaterThan(20)
})

test('every table of the schema has a comment that says what a row is', () => {
  const folder = 'clickhouse/schema'
  const tables = readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) => [...textOf(join(folder, name)).matchAll(/^(.*)\nCREATE TABLE IF NOT EXISTS (\w+)/gm)])
  expect(tables.filter(([, before]) => !before?.startsWith('--')).map(([, , table]) => table)).toEqual([])
  expect(tables.length).toBeGreaterThan(40)
})
