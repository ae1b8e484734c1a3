import { readFileSync } from 'node:fs'
import { defineConfig } from 'vite'

const PARSER_LICENSE = new URL('../../node_modules/eventsource-parser/LICENSE', import.meta.url)

/** One file without dependencies. `tsc` adds the types. */
export default defineConfig({
  publicDir: false,
  build: {
    target: 'es2022',
    lib: { entry: 'src/client.ts', formats: ['es'], fileName: 'client' },
    minify: false,
    // The types of the build before, of files that are gone.
    emptyOutDir: true,
    rolldownOptions: {
      output: { postBanner: `/*! Contains eventsource-parser.\n${readFileSync(PARSER_LICENSE, 'utf8').trim()}\n*/` },
    },
  },
  logLevel: 'warn',
})
