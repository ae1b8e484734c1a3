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

const LINKED_PAGE = /\]\(([\w-]+\.md)(#[\w-]+)?\)/g

/**
 * A document as HTML. A README is one page with the pages that it links to, in that order, each in a section with the name of its
 * file as id, and with its headings a level lower.
 */
async function htmlOf(file: string): Promise<string> {
  const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')
  const text = await read(file)
  if (!file.endsWith('/README.md')) return markdown.parse(text)
  const parsed = (page: string) =>
    markdown.parse(page.replace(LINKED_PAGE, (_, name, anchor) => `](${anchor ?? `#${name}`})`))
  const pages = new Set([...text.matchAll(LINKED_PAGE)].map(([, name = '']) => name))
  const sections = [...pages].map(async (name) => {
    const page = await read(file.replace('README.md', name))
    return `<section id="${name}">${await parsed(page.replace(/^#+ /gm, '#$&'))}</section>`
  })
  return [await parsed(text), ...(await Promise.all(sections))].join('')
}

/** Puts documents of the repository where a page names them: `<!-- docs/….md -->`. */
const documents = (): Plugin => ({
  name: 'documents',
  transformIndexHtml: {
    order: 'pre',
    async handler(html) {
      const name = /<!-- (docs\/[\w/-]+\.md) -->/.exec(html)?.[1]
      if (name === undefined) return html
      const text = await htmlOf(name)
      return html.replace(`<!-- ${name} -->`, () => text)
    },
  },
})

export default defineConfig({
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
    rolldownOptions: { input: ['index', 'methodology', 'api', 'webhooks'].map((name) => `${name}.html`) },
  },
  plugins: [documents(), precompress()],
  // npm run build prints what went wrong, and nothing else.
  logLevel: 'warn',
})
