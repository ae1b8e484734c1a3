import { defineConfig } from 'vitest/config'
import { workspaceProjects } from '../../test/support/projects.js'

export const projects = workspaceProjects('chain', import.meta.url)

export default defineConfig({ test: { projects } })
