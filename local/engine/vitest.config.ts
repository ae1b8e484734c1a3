import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { workspaceProjects } from '../../test/support/projects.js'

export const projects = workspaceProjects('engine', import.meta.url, {
  globalSetup: [fileURLToPath(new URL('test/global-setup.ts', import.meta.url))],
})

export default defineConfig({ test: { projects } })
