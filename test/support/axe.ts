import axe from 'axe-core'
import type { Page } from 'playwright-core'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds on the page as it is shown, by all rules or some: a rule and the first elements that break it. */
export async function findings(page: Page, rules: readonly string[] = RULES): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source)
  return page.evaluate(`axe.run({ runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`)
}
