import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Marked } from 'marked'
import { gfmHeadingId } from 'marked-gfm-heading-id'
import { defineConfig, type Plugin } from 'vite'

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Compresses every file as far as it goes, once, so that the service only has to send it. */
const precompress = (): Plugin => ({
  name: 'precompress',
  apply: 'build',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    async handler(_, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source)
        const br = await brotli(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
        this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: br })
        this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: await zip(bytes, { level: 9 }) })
      }
    },
  },
})

const markdown = new Marked(gfmHeadingId(), {
  hooks: {
    // What is wide scrolls by itself, and a keyboard can scroll only what it can focus.
    postprocess: (html) =>
      html
        .replaceAll('<table>', '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>')
        .replaceAll('</table>', '</table></div>')
        .replaceAll('<pre>', '<pre tabindex="0">'),
  },
  renderer: {
    // Other files of the repository are not part of the page.
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens)
      return /^(?:#|https:)/.test(href) ? `<a href="${encodeURI(href)}">${text}</a>` : text
    },
  },
})

/** Puts documents of the repository where a page names them: `<!-- docs/….md -->`. */
const documents = (): Plugin => ({
  name: 'documents',
  transformIndexHtml: {
    order: 'pre',
    async handler(html) {
      const name = /<!-- (docs\/[\w-]+\.md) -->/.exec(html)?.[1]
      if (name === undefined) return html
      const text = await markdown.parse(await readFile(name, 'utf8'))
      return html.replace(`<!-- ${name} -->`, () => text)
    },
  },
})

export default defineConfig({
  root: 'dashboard',
  publicDir: false,
  // Hashes of the files are in their names, so a browser may keep them for ever.
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    // Every browser that runs the page preloads modules by itself.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { input: ['index', 'methodology', 'api', 'webhooks'].map((name) => `dashboard/${name}.html`) },
  },
  plugins: [documents(), precompress()],
  // npm run build prints what went wrong, and nothing else.
  logLevel: 'warn',
})
