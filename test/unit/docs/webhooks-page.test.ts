import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../clickhouse/events/types.js'
import { signatureProblem } from '../../../clickhouse/webhooks/signature.js'
import { codeBlocks } from '../../support/markdown.js'

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
const page = read('docs/webhooks.md')

test('the programs on the page for receivers are the tested ones', () => {
  const programs = codeBlocks('docs/webhooks.md').filter(({ language }) => ['ts', 'python', 'go'].includes(language))
  expect(programs).toEqual([
    { heading: 'TypeScript', language: 'ts', code: read('docs/examples/webhooks/verify.ts') },
    { heading: 'Python', language: 'python', code: read('docs/examples/webhooks/verify.py') },
    { heading: 'Go', language: 'go', code: read('docs/examples/webhooks/verify.go') },
  ])
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
