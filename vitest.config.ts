import { existsSync, statfsSync } from 'node:fs'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
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

// For what hangs: on a busy machine, what takes milliseconds takes seconds.
const UNIT = { testTimeout: 60_000, sequence: { groupOrder: 0 } }

const INTEGRATION = {
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: 900_000,
  hookTimeout: 900_000,
  // More than there are cores: much of a test's time is waiting for processes that start and leases that end.
  maxWorkers: 3,
  // A run of over an hour is not lost to one test that a busy machine upset; the end of the run names each that needed this.
  retry: process.env.CI ? 1 : 0,
  sequence: { groupOrder: 1 },
}

/**
 * Files of a worker share what they import: to load the whole service takes seconds, and there are hundreds of files. A
 * few do not share it: those that mock a module, and the engine's, since the engine and the service each initialize the
 * WebAssembly module of zstd, which can be done once in a process.
 */
const projects = (name: string, settings: object): TestProjectInlineConfiguration[] => {
  const leftOut = SLOW.areRun ? [] : [`test/${name}/**/*${SLOW.ending}`]
  const isolated = [`test/${name}/local/**/*.test.ts`, `test/${name}/**/*.isolated.test.ts`]
  return [
    {
      test: {
        ...settings,
        name,
        include: [`test/${name}/**/*.test.ts`],
        exclude: [...isolated, ...leftOut],
        isolate: false,
      },
    },
    { test: { ...settings, name: `${name}-isolated`, include: isolated, exclude: leftOut } },
  ]
}

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [...projects('unit', UNIT), ...projects('integration', INTEGRATION)],
  },
})
