import { readFileSync } from 'node:fs'
import { defineConfig } from 'vite'

/** The packages that are built in. */
const BUILT_IN = ['eventsource-parser', 'viem', 'abitype', '@noble/hashes']

const licenseOf = (name: string): string =>
  `${name}:\n${readFileSync(new URL(`../../node_modules/${name}/LICENSE`, import.meta.url), 'utf8').trim()}`

/** One program for Node without dependencies, so that it installs without a registry. */
export default defineConfig({
  publicDir: false,
  ssr: { noExternal: true },
  build: {
    target: 'node20',
    ssr: 'src/main.ts',
    minify: false,
    emptyOutDir: true,
    rolldownOptions: {
      external: [/^node:/],
      output: {
        entryFileNames: 'main.js',
        banner: '#!/usr/bin/env node',
        postBanner: `/*! Contains ${BUILT_IN.map(licenseOf).join('\n\n')}\n*/`,
      },
    },
  },
  logLevel: 'warn',
})
