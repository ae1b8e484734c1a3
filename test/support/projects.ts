import { fileURLToPath } from 'node:url'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { SLOW } from './slow.js'

// For what hangs: on a busy machine, what takes milliseconds takes seconds.
export const UNIT = { testTimeout: 60_000, sequence: { groupOrder: 0 } }

export const INTEGRATION = {
  testTimeout: 900_000,
  hookTimeout: 900_000,
  // More than there are cores: much of a test's time is waiting for processes that start and leases that end.
  maxWorkers: 3,
  sequence: { groupOrder: 1 },
}

/** The projects of a workspace, whose tests are in its `test/unit/` and `test/integration/`. `url` is of its configuration. */
export function workspaceProjects(
  name: string,
  url: string,
  integration: object = {},
): TestProjectInlineConfiguration[] {
  const root = fileURLToPath(new URL('.', url))
  const exclude = SLOW.areRun ? [] : [`**/*${SLOW.ending}`]
  const project = (kind: string, settings: object): TestProjectInlineConfiguration => ({
    test: { ...settings, name: `${kind}-${name}`, root, include: [`test/${kind}/**/*.test.ts`], exclude },
  })
  return [project('unit', UNIT), project('integration', { ...INTEGRATION, ...integration })]
}
