import { existsSync, statfsSync } from 'node:fs'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { projects as chain } from './local/chain/vitest.config.js'
import { projects as engine } from './local/engine/vitest.config.js'
import { INTEGRATION, UNIT } from './test/support/projects.js'
import { SLOW } from './test/support/slow.js'

/** What the databases and chains of a run need, with much to spare. */
const ROOM_BYTES = 4 * 2 ** 30
const MEMORY = '/dev/shm'

// Databases in memory, where there is room: creating and deleting small files is a good part of an engine's work.
if (existsSync(MEMORY)) {
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize > ROOM_BYTES) process.env.TMPDIR ??= MEMORY
}

const isSlow = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith(SLOW.ending)

/** Begins with the slow files, so that none of them is left for the end, where the other workers would have nothing to do. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

const leftOut = SLOW.areRun ? [] : [`**/*${SLOW.ending}`]
const ISOLATED = '**/*.isolated.test.ts'
const SERVICE = { ...INTEGRATION, globalSetup: ['test/support/global-setup.ts'] }

/**
 * The service's tests. Files of a worker share what they import: to load the whole service takes seconds, and there are
 * hundreds of files. A few do not share it: those that mock a module.
 */
const service: TestProjectInlineConfiguration[] = [
  { test: { ...UNIT, name: 'unit', include: ['test/unit/**/*.test.ts'], exclude: leftOut, isolate: false } },
  {
    test: {
      ...SERVICE,
      name: 'integration',
      include: ['test/integration/**/*.test.ts'],
      exclude: [ISOLATED, ...leftOut],
      isolate: false,
    },
  },
  { test: { ...SERVICE, name: 'integration-isolated', include: [`test/integration/${ISOLATED}`], exclude: leftOut } },
]

/** Files that also run on a chain of a newer hardfork than the local chain's own: see `stillChain`. */
const ON_T12 = ['whole-market', 'holders', 'fees', 'trades'].map(
  (name) => `test/integration/ingest/stages/${name}.test.ts`,
)
const env = { LOCAL_FORK: 'T12' }
service.push({
  test: { ...SERVICE, name: 'integration-t12', include: ON_T12, exclude: leftOut, env, isolate: false },
})

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [...service, ...engine, ...chain],
  },
})
