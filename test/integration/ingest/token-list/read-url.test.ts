import { expect, test } from 'vitest'
import { fetchList } from '../../../../ingest/token-list/read.js'
import { answering, type Reply, startServer } from '../../../support/answering.js'

const { signal } = new AbortController()

const read = (url: string, options: { version?: string; timeoutMs?: number } = {}) =>
  fetchList(new URL(url), { version: null, signal, ...options })

const redirect =
  (location: string): Reply =>
  (response) =>
    response.writeHead(302, { location }).end()

test('a list is downloaded again only when its entity tag has changed', async () => {
  const { baseUrl, requests } = await answering((response, request) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
    else response.writeHead(200, { etag: '"1"' }).end('{}')
  })
  expect(await read(baseUrl)).toEqual({ text: '{}', version: '"1"' })
  expect(await read(baseUrl, { version: '"1"' })).toBeNull()
  expect(await read(baseUrl, { version: '"0"' })).toEqual({ text: '{}', version: '"1"' })
  expect(requests).toHaveLength(3)
})

test('a list that is too large is not read to its end', async () => {
  let sent = 0
  const url = await startServer((_, response) => {
    const send = () => {
      while (!response.destroyed && response.write('x'.repeat(100_000))) sent += 100_000
      sent += 100_000
    }
    response.on('drain', send)
    send()
  })
  await expect(read(url)).rejects.toThrow(/TOKEN_LIST: the list is larger than 5 MB/)
  expect(sent).toBeLessThan(50_000_000)
})

test('an answer that begins and does not end is given up', async () => {
  const url = await startServer((_, response) => void response.write('{'))
  await expect(read(url, { timeoutMs: 200 })).rejects.toThrow('cannot be read: no answer within 0.2 s')
})

test.for([404, 500, 204, 304])('a status of %i is not a list', async (status) => {
  const { baseUrl } = await answering((response) => response.writeHead(status).end())
  await expect(read(baseUrl)).rejects.toThrow(`cannot be read: the status is ${status}`)
})

test('redirects are followed to https only, so that nobody on the way can change the list', async () => {
  const other = await answering((response) => response.end('{}'))
  for (const location of [other.baseUrl, 'http://lists.example/', 'file:///etc/passwd', '//[', '']) {
    const { baseUrl } = await answering(redirect(location))
    await expect(read(baseUrl), location).rejects.toThrow('it redirects to something other than https')
  }
  expect(other.requests).toEqual([])
})

test('credentials of a URL are sent to its server, and no error shows them or the query', async () => {
  const { baseUrl, requests } = await answering((response) => response.writeHead(500).end())
  const secret = baseUrl.replace('http://', 'http://user:hunter2@')
  const failures = [`${secret}/hunter2?key=hunter2`, 'http://user:hunter2@127.0.0.1:1/?key=hunter2'].map((url) =>
    read(url).catch((error: Error) => `${error.message} ${error.stack} ${error.cause}`),
  )
  for (const failure of await Promise.all(failures)) expect(failure).not.toContain('hunter2')
  expect(requests[0]?.headers.authorization).toBe(`Basic ${btoa('user:hunter2')}`)
})

test('a server that is away is reported by the kind of failure', async () => {
  await expect(read('http://127.0.0.1:1/')).rejects.toThrow(/^cannot be read: (ECONNREFUSED|the connection failed)$/)
})
