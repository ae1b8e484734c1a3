import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { helpOf, PROBLEM_KINDS } from '../../../api/http/problem-kinds.js'
import { test } from '../../support/documented.js'

const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
/** The id that the heading has on the served page. */
const headingId = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-')
const WEBHOOKS = '/api/admin/webhooks'

test('the page about the API has every route, and marks those with a price', ({ document }) => {
  for (const [path, { get }] of Object.entries(document.paths)) {
    const named = path.startsWith(`${WEBHOOKS}/`) ? path.slice(WEBHOOKS.length).replace('/{id}', '…/{id}') : path
    expect(page, path).toContain(named)
    if (get?.responses['402']) expect(page, path).toContain(`\`${path}\` $`)
  }
})

test('the section that a problem links to names it', () => {
  const sections = new Map(page.split(/^## /m).map((text) => [headingId(text.split('\n', 1)[0] ?? ''), text]))
  for (const [kind, { see }] of Object.entries(PROBLEM_KINDS))
    expect(sections.get(see), `${kind} in the section ${see}`).toContain(`\`${kind}\``)
  expect(helpOf({ type: 'https://paymentauth.org/problems/verification-failed' })).toBe('/docs/api#payments')
  expect(sections.get('payments')).toContain('https://paymentauth.org/problems/')
})
