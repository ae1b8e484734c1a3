import { defineConfig } from 'vite'

/** A program for Node with the client of the API built in; the SDK and what it depends on are not. */
export default defineConfig({
  publicDir: false,
  build: {
    target: 'node20',
    ssr: 'src/main.ts',
    minify: false,
    emptyOutDir: true,
    rolldownOptions: {
      external: [/^@modelcontextprotocol\//, 'eventsource-parser', /^node:/],
      output: { entryFileNames: 'main.js', banner: '#!/usr/bin/env node' },
    },
  },
  logLevel: 'warn',
})
