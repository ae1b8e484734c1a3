import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { fastify } from 'fastify'

/** What a bare server answers with: a 304 with this ETag where there is no body. */
export type Page = { path: string; etag: string; body: string | null; headers?: Record<string, string> }

/** Fastify in a process of its own, with one route that sends a page from a string and does nothing else. */
export async function startBareServer(page: Page): Promise<{ url: string; pid: number; stop: () => void }> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  child.send(page)
  const [url] = (await once(child, 'message')) as [string]
  return { url, pid: child.pid as number, stop: () => child.kill() }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === 'serve') {
  const [{ path, etag, body, headers }] = (await once(process, 'message')) as [Page]
  const app = fastify()
  app.get(path, (_, reply) => {
    if (headers) reply.headers(headers)
    if (body === null) reply.code(304).header('etag', etag).send()
    else reply.type('application/json; charset=utf-8').send(body)
  })
  process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
}
