import { readFileSync } from 'node:fs'
import type { FastifyPluginAsync } from 'fastify'

/** The documents about the interface, by name. `npm run build` copies them beside the compiled code. */
export const DOCUMENTS = {
  api: 'routes, conventions, keys, payments, limits, caching, events',
  methodology: 'every formula, and what each figure means',
  webhooks: 'receiving events: signatures, retries, replays',
  recipes: 'programs to copy',
  glossary: 'the terms',
}

const textOf = (name: string): string => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

/** Serves each document as Markdown, for programs that read: /docs/<name>.md. */
export const documents: FastifyPluginAsync = async (app) => {
  for (const name of Object.keys(DOCUMENTS)) {
    const text = textOf(name)
    app.get(`/docs/${name}.md`, { schema: { hide: true }, config: { always: true } }, (_, reply) =>
      reply.header('cache-control', 'public, max-age=300').type('text/markdown; charset=utf-8').send(text),
    )
  }
}
