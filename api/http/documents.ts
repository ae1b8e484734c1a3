import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyPluginAsync } from 'fastify'

/** The documents about the interface, by name. `npm run build` copies them beside the compiled code. */
export const DOCUMENTS = {
  api: 'routes, conventions, keys, payments, limits, caching, events',
  'methodology/README': 'every formula, and what each figure means',
  webhooks: 'receiving events: signatures, retries, replays',
  recipes: 'programs to copy',
  glossary: 'the terms',
}

const DOCS = new URL('../../docs/', import.meta.url)

/** The files of a document: a README stands for all pages of its folder. */
function filesOf(name: string): string[] {
  if (!name.endsWith('/README')) return [`${name}.md`]
  const folder = name.slice(0, -'README'.length)
  return readdirSync(new URL(folder, DOCS)).map((file) => folder + file)
}

/** Serves each document as Markdown, for programs that read: /docs/<file>. Links between the files lead to these addresses. */
export const documents: FastifyPluginAsync = async (app) => {
  for (const file of Object.keys(DOCUMENTS).flatMap(filesOf)) {
    const text = readFileSync(new URL(file, DOCS), 'utf8')
    app.get(`/docs/${file}`, { schema: { hide: true }, config: { always: true } }, (_, reply) =>
      reply.header('cache-control', 'public, max-age=300').type('text/markdown; charset=utf-8').send(text),
    )
  }
}
