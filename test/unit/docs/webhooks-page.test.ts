import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../clickhouse/events/types.js'
import { FORMATS, WEBHOOK_FORMATS } from '../../../clickhouse/webhooks/formats.js'
import { signatureProblem } from '../../../clickhouse/webhooks/signature.js'
import { codeBlocks } from '../../support/markdown.js'

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
const page = read('docs/webhooks.md')

test('the function on the page for receivers is that of the tested program', () => {
  const [verify, ...others] = codeBlocks('docs/webhooks.md').filter(({ language }) => language === 'ts')
  expect(others).toEqual([])
  expect(read('docs/examples/webhooks/verify.ts')).toContain(`\n${verify?.code}\n`)
})

test('the example of a signature is right', () => {
  const [, secret = '', timestamp = '', body = '', signature = ''] =
    /secret `(whsec_\S+)`[^`]+```text\n(\d+)\.(.+)\n```\n\nis `(\w+)`/.exec(page) ?? []
  const header = `t=${timestamp},v1=${signature}`
  expect(signatureProblem({ header, body, secret, now: new Date(Number(timestamp) * 1000) })).toBeNull()
})

test('every event is described', () => {
  for (const type of EVENT_TYPES) expect(page).toContain(`| \`${type}\``)
})

/** The rows of the table whose first heading is `format` and whose second is this, by what is in their first column. */
function rowsOf(heading: string): Map<string, string[]> {
  const [, rows = ''] = new RegExp(`\\| \`format\` +\\| ${heading} .*\n.*\n((?:\\|.*\n)+)`).exec(page) ?? []
  const cells = rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  return new Map(cells.map(([format = '', ...rest]) => [format.replaceAll('`', ''), rest]))
}

test('the table of formats has what is true of each', () => {
  const rows = rowsOf('For')
  expect([...rows.keys()]).toEqual(WEBHOOK_FORMATS)
  for (const format of WEBHOOK_FORMATS) {
    const { isUrlSecret, mostText, domains, pathEnd, needsChat } = FORMATS[format]
    const [purpose = '', body = '', ...traits] = rows.get(format) ?? []
    expect(traits).toEqual([isUrlSecret ? 'secret' : '', mostText?.toLocaleString('en-US') ?? ''])
    if (domains.length > 0) expect(domains.some((domain) => purpose.includes(domain))).toBe(true)
    expect(purpose).toContain(pathEnd?.text ?? '')
    expect(body.includes('`chat_id`')).toBe(needsChat)
    if (format !== 'plumbline') expect(body).toContain(`(examples/webhooks/formats/${format}.json)`)
  }
})

test('the table of digests has every format, and which has none', () => {
  const rows = rowsOf('A digest')
  const forPrograms = WEBHOOK_FORMATS.filter((format) => FORMATS[format].readers === 'programs')
  expect(new Set(rows.keys())).toEqual(new Set([...forPrograms, 'a message for people']))
  for (const format of forPrograms)
    expect(rows.get(format)?.[0]?.startsWith('refused')).toBe(FORMATS[format].whyNeverHeld !== null)
})
