import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { fastify } from 'fastify'

/** What a bare server answers with, whatever is asked of it. */
export type Page = { path: string; body: string; etag: string; headers?: Record<string, string> }

/**
 * Fastify in a process of its own, with a route for each page that sends its body from a string, or a 304 to a client that
 * has it, with the page's header fields where it has some, and does nothing else.
 */
export async function startBareServer(pages: readonly Page[]): Promise<{ url: string; pid: number; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  child.send(pages)
  const [url] = (await once(child, 'message')) as [string]
  return { url, pid: child.pid as number, stop: () => child.kill() }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === 'serve') {
  const [pages] = (await once(process, 'message')) as [Page[]]
  const app = fastify()
  for (const { path, body, etag, headers } of pages) {
    app.get(path, (request, reply) => {
      if (headers) reply.headers(headers)
      if (request.headers['if-none-match'] === etag) reply.code(304).header('etag', etag).send()
      else reply.type('application/json; charset=utf-8').send(body)
    })
  }
  process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
}
