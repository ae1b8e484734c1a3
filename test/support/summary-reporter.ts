import { readdirSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { SLOW } from './slow.js'

const FOLDERS = ['../', '../../local/engine/test/', '../../local/chain/test/'].map(
  (path) => new URL(path, import.meta.url),
)

const fileOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId)

const SLOWEST = 10

const firstLineOf = (message = ''): string => message.replace(/\n.*/s, '').slice(0, 200)

/** What failed outside a test, and each test that failed, as one line. */
function failuresOf(module: TestModule): string[] {
  const tests = [...module.children.allTests('failed')].map((test) => ({
    name: test.fullName,
    errors: test.result().errors,
  }))
  const outside = { name: 'outside its tests', errors: module.errors() }
  return [...(outside.errors.length > 0 ? [outside] : []), ...tests].map(({ name, errors }) => {
    return `Failed: ${fileOf(module)}: ${name}: ${firstLineOf(errors?.[0]?.message)}`
  })
}

/** How long a file takes, which may be beside others: what it imports, its hooks and its tests. */
const secondsOf = (module: TestModule): number => {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1000
}

/** The slowest files, a line each, and what share of the time of all files they have. */
function slowestOf(modules: readonly TestModule[]): string[] {
  const files = modules.map((module) => ({ file: fileOf(module), seconds: secondsOf(module) }))
  const sum = (some: typeof files): number => some.reduce((total, { seconds }) => total + seconds, 0)
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  const share = Math.round((100 * sum(slowest)) / sum(files))
  return [
    `The slowest ${slowest.length} of ${files.length} files, ${share} % of ${Math.round(sum(files))} s of all workers:`,
    ...slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`),
  ]
}

/** Ends a run with the slowest files, a line for each test that failed, since of a long log often only the end is kept, and one on those not run. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const line of [...slowestOf(modules), ...modules.flatMap(failuresOf)]) console.log(line)
    const reasons = new Map<string, number>()
    for (const module of modules)
      for (const test of module.children.allTests('skipped')) {
        const result = test.result()
        const reason = (result.state === 'skipped' && result.note) || 'without a reason'
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      }
    const list = [...reasons].map(([reason, count]) => `${count} tests (${reason})`)
    const files = FOLDERS.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    const slow = files.filter((file) => file.endsWith(SLOW.ending))
    if (!SLOW.areRun) list.unshift(`${slow.length} slow files (kills, crashes, reorganizations, long histories)`)
    console.log(list.length === 0 ? 'Every test was run.' : `Not run: ${list.join(', ')}. npm run test:all runs all.`)
  }
}
