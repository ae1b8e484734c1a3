import { readdirSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { SLOW } from './slow.js'

const FOLDER = new URL('../integration/', import.meta.url)

/** Ends a run with one line that says which tests were not run, and why. */
export default class NotRunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const reasons = new Map<string, number>()
    for (const module of modules)
      for (const test of module.children.allTests('skipped')) {
        const result = test.result()
        const reason = (result.state === 'skipped' && result.note) || 'without a reason'
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      }
    const list = [...reasons].map(([reason, count]) => `${count} tests (${reason})`)
    const slow = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith(SLOW.ending))
    if (!SLOW.areRun) list.unshift(`${slow.length} slow files (kills, crashes, reorganizations, long histories)`)
    console.log(list.length === 0 ? 'Every test was run.' : `Not run: ${list.join(', ')}. npm run test:all runs all.`)
  }
}
