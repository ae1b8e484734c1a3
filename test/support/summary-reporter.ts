import { readdirSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { SLOW } from './slow.js'

const FOLDER = new URL('../integration/', import.meta.url)

/** What failed outside a test, and each test that failed, as one line. */
function failuresOf(module: TestModule): string[] {
  const tests = [...module.children.allTests('failed')].map((test) => ({
    name: test.fullName,
    errors: test.result().errors,
  }))
  const outside = { name: 'outside its tests', errors: module.errors() }
  return [...(outside.errors.length > 0 ? [outside] : []), ...tests].map(({ name, errors }) => {
    const [firstLine = ''] = (errors?.[0]?.message ?? '').split('\n')
    return `Failed: ${module.relativeModuleId}: ${name}: ${firstLine.slice(0, 200)}`
  })
}

/** Each test that passed only at its second attempt, as one line. Those that are expected to fail are repeated too. */
const retriesOf = (module: TestModule): string[] =>
  [...module.children.allTests('passed')]
    .filter((test) => test.diagnostic()?.flaky && !test.options.fails)
    .map((test) => `Passed only at the second attempt: ${module.relativeModuleId}: ${test.fullName}`)

/** Ends a run with a line for each test that failed or was repeated, since of a long log often only the end is kept, and one on those not run. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const line of [...modules.flatMap(retriesOf), ...modules.flatMap(failuresOf)]) console.log(line)
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
