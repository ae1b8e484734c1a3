import { expect } from 'vitest'
import { test } from '../../support/dashboard.js'
import { addFacts, stableAddress, stablecoin } from '../../support/rows.js'

test('every view opens under its strict policy, and asks nobody but its own service', async ({ clickhouse, visit }) => {
  const { origin, page, asked, complaints } = visit
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  for (const path of ['/', `/s/${stableAddress(1)}`, '/flows', '/events', '/status', '/webhooks']) {
    const response = await page.goto(origin + path)
    expect(response?.headers()['content-security-policy']).toContain("require-trusted-types-for 'script'")
    await page.locator('main > :not(.loading)').first().waitFor()
  }
  // Proof that a violation would be noticed.
  await page.evaluate(`try { document.body.innerHTML = '<b></b>' } catch {}`)
  await expect.poll(() => complaints).toHaveLength(1)
  expect(complaints[0]).toContain('TrustedHTML')
  expect(asked.filter((url) => !url.startsWith(`${origin}/`))).toEqual([])
})
