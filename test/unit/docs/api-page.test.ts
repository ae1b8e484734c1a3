import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { test } from '../../support/documented.js'

const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
const WEBHOOKS = '/api/admin/webhooks'

test('the page about the API has every route, and marks those with a price', ({ document }) => {
  for (const [path, { get }] of Object.entries(document.paths)) {
    const named = path.startsWith(`${WEBHOOKS}/`) ? path.slice(WEBHOOKS.length).replace('/{id}', '…/{id}') : path
    expect(page, path).toContain(named)
    if (get?.responses['402']) expect(page, path).toContain(`\`GET ${path}\` $`)
  }
})
