import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../clickhouse/events/types.js'
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
