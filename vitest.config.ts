import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      // The limit is for what hangs: on a busy machine, what takes milliseconds takes seconds.
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 60_000,
          // Before the others: groups of tests with as many workers each as they like have to follow each other.
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Every test has a database, processes and directories of its own; most of a test's time is waiting for them.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
