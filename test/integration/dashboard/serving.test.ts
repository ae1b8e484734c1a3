import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { DASHBOARD, test } from '../../support/dashboard.js'
import { stableAddress } from '../../support/rows.js'

/** What Chromium sends when somebody opens a page. */
const BROWSER = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
}
/** The first load of the page may not be larger, in bytes of gzip. */
const MOST_BYTES = 40 * 1024

const FRAMED = ['/embed', `/embed/s/${stableAddress(1)}`]
const PAGES = [...FRAMED, '/', `/s/${stableAddress(1)}`, '/flows', '/events', '/status', '/webhooks']

test('browsers get the page and programs get JSON, at the same path', async ({ app, origin }) => {
  const json = (await app.inject('/')).body
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.9', '']) {
    const response = await fetch(origin, { headers: { accept } })
    expect([accept, response.headers.get('vary'), await response.text()]).toEqual([
      accept,
      expect.stringMatching(/^accept\b/i),
      json,
    ])
  }
  for (const accept of [BROWSER.accept, 'text/html', 'text/*', 'application/json;q=0.5, text/html']) {
    const response = await fetch(origin, { headers: { accept } })
    expect([accept, response.headers.get('content-type')]).toEqual([accept, 'text/html; charset=utf-8'])
    expect(response.headers.get('vary')).toMatch(/^accept$/i)
  }
})

test('every view has its path, with any parameters, and other paths stay unknown', async ({ origin }) => {
  for (const path of PAGES)
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(`${origin}${path}?as_of=2026-07-01T12:00:00Z&w=7d&what=ever`, {
        method,
        headers: BROWSER,
      })
      expect([path, method, response.status]).toEqual([path, method, 200])
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-cache')
      // Other sites may show only what is meant for it.
      const ancestors = FRAMED.includes(path) ? 'frame-ancestors *' : "frame-ancestors 'none'"
      expect(response.headers.get('content-security-policy')?.split(';')).toContain(ancestors)
      expect((await response.text()).includes('<div id="page">')).toBe(method === 'GET')
    }
  for (const path of [
    '/s',
    '/flow',
    '/index.html',
    '/assets',
    '/assets/none.js',
    '/assets/../index.html',
    '/s/a/b',
    '/embed/status',
  ]) {
    const response = await fetch(`${origin}${path}`, { headers: BROWSER })
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      404,
      'application/problem+json; charset=utf-8',
    ])
  }
  const refused = await fetch(`${origin}/?what=ever`, { headers: { accept: 'application/json' } })
  expect(refused.status).toBe(400)
})

test.for([
  ['/methodology', 'mean_price'],
  ['/docs/api', 'WWW-Authenticate'],
  ['/docs/webhooks', 'X-Service-Signature'],
] as const)(
  '%s is a page of its own, without scripts, whose links lead somewhere',
  async ([path, content], { origin }) => {
    const response = await fetch(origin + path, { headers: BROWSER })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const html = await response.text()
    expect(html).toContain(content)
    expect(html).not.toContain('<script')
    const ids = new Set<string>()
    for (const [, id = ''] of html.matchAll(/ id="([^"]+)"/g)) {
      expect([id, ids.has(id)]).toEqual([id, false])
      ids.add(id)
    }
    const links = [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href as string)
    expect(links.length).toBeGreaterThan(2)
    for (const href of links) {
      if (href.startsWith('#')) expect([href, ids.has(href.slice(1))]).toEqual([href, true])
      else if (!href.startsWith('https:')) expect([href, (await fetch(origin + href)).status]).toEqual([href, 200])
    }
  },
)

test('a link is shown with the picture of the board, at the address of the service', async ({ origin }) => {
  const metaOf = (html: string, name: string) =>
    new RegExp(`<meta\\s+(?:property|name)="${name}"\\s+content="([^"]*)"`).exec(html)?.[1]
  for (const path of PAGES) {
    const html = await (await fetch(origin + path, { headers: { accept: 'text/html' } })).text()
    for (const name of ['og:title', 'og:description', 'og:image:alt'])
      expect([path, metaOf(html, name)]).toEqual([path, expect.stringMatching(/stablecoin/i)])
    expect(metaOf(html, 'og:image')).toMatch(new RegExp(`^${origin}/assets/social-[\\w-]{8}\\.png$`))
    expect(metaOf(html, 'twitter:card')).toBe('summary_large_image')
  }
  const html = await (await fetch(origin, { headers: { accept: 'text/html' } })).text()
  const image = await fetch(metaOf(html, 'og:image') as string)
  expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])
  const png = Buffer.from(await image.arrayBuffer())
  expect(png.length).toBeLessThan(150 * 1000)
  // Width and height are at the beginning of a PNG.
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1200, 630])
  const size = ['og:image:width', 'og:image:height'].map((name) => metaOf(html, name))
  expect(size).toEqual(['1200', '630'])
})

test('no host that somebody claims is more than text in the page', async ({ origin }) => {
  const { port } = new URL(origin)
  const htmlFor = (host: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1')
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('end', () => resolve(text))
      socket.on('error', reject)
      socket.end(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`)
    })
  for (const host of ['"><script>alert(1)</script>', 'a"onload="x', "a'b&lt", 'a b', '[::1', 'none.example:99999']) {
    const answer = await htmlFor(host)
    expect([host, /<script>alert|"onload=/.test(answer)]).toEqual([host, false])
    if (answer.startsWith('HTTP/1.1 200')) expect(answer).toContain(`content="${origin}/assets/social-`)
  }
  expect(await htmlFor('plumbline.example')).toContain(`content="${origin}/assets/social-`)
})

test('its assets are compressed, may be kept for a year, and fit the budget of the first load', async ({ origin }) => {
  const html = await fetch(origin, { headers: BROWSER })
  const text = await html.text()
  const assets = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => `${path}`)
  expect(assets.length).toBeGreaterThanOrEqual(3)
  const sizes = [
    Number((await fetch(origin, { headers: { ...BROWSER, 'accept-encoding': 'gzip' } })).headers.get('content-length')),
  ]
  for (const path of assets) {
    const plain = await fetch(origin + path, { headers: { 'accept-encoding': 'identity' } })
    const body = await plain.text()
    for (const coding of ['gzip', 'br']) {
      const response = await fetch(origin + path, { headers: { 'accept-encoding': coding } })
      expect([path, response.headers.get('content-encoding')]).toEqual([path, coding])
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(response.headers.get('vary')).toMatch(/accept-encoding/i)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      if (coding === 'gzip') sizes.push(Number(response.headers.get('content-length')))
      // fetch has decoded it.
      expect(await response.text()).toBe(body)
    }
  }
  const total = sizes.reduce((sum, size) => sum + size)
  expect(total).toBeGreaterThan(5000)
  expect(total).toBeLessThanOrEqual(MOST_BYTES)
})

test('no file of the page is left out of compression', async () => {
  const files = await readdir(join(DASHBOARD, 'assets'))
  const plain = files.filter((file) => !/\.(?:br|gz)$/.test(file))
  expect(files.sort()).toEqual(plain.flatMap((file) => [file, `${file}.br`, `${file}.gz`]).sort())
  expect(plain.filter((file) => !/-[\w-]{8}\.\w+$/.test(file))).toEqual([])
})
