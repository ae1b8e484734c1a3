import type { Reporter, TestModule } from 'vitest/node'

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
    const list = [...reasons].map(([reason, count]) => `${count} (${reason})`).join(', ')
    console.log(
      reasons.size === 0 ? 'Every test was run.' : `Tests not run: ${list}. npm run test:all needs all of them.`,
    )
  }
}
