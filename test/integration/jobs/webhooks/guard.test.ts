import type { RequestListener } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'vitest'
import { httpReceiver } from '../../../support/webhooks/receivers.js'
import { test } from '../../../support/webhooks/sending.js'

const ok: RequestListener = (_, response) => response.end('received')
/** Closes the connection, as many receivers do, so that the next exchange looks up the addresses again. */
const okAndGone: RequestListener = (_, response) => response.setHeader('connection', 'close').end('received')

const PUBLIC = '93.184.216.34'
const PUBLIC_IPV6 = '2606:2800:220:1::1'

test('no connection is made to this machine, however its address is written', async ({ running, sending }) => {
  const { port, connections } = await running(httpReceiver(ok))
  const { send, asked } = await sending({ allowed: [] })
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '[::1]',
    '0',
    'localhost',
  ])
    expect(await send(`http://${host}:${port}`), host).toMatchObject({
      status: null,
      error: expect.stringMatching(/^address not allowed: /),
    })
  for (const host of ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'])
    expect(await send(`http://${host}:${port}`), host).toMatchObject({
      status: null,
      error: expect.stringMatching(/^address not allowed: /),
    })
  expect([connections(), asked]).toEqual([0, []])
})

test('no connection is made if a name has any address that is not allowed', async ({ running, sending }) => {
  const { port, connections } = await running(httpReceiver(ok))
  const names: Record<string, { A: string[]; AAAA: string[]; range: string }> = {
    'inside.test': { A: ['127.0.0.1'], AAAA: [], range: 'loopback' },
    'both.test': { A: [PUBLIC, '127.0.0.1'], AAAA: [], range: 'loopback' },
    'turned.test': { A: ['127.0.0.1', PUBLIC], AAAA: [PUBLIC_IPV6], range: 'loopback' },
    'six.test': { A: [PUBLIC], AAAA: ['::1'], range: 'loopback' },
    'mapped.test': { A: [], AAAA: ['::ffff:127.0.0.1'], range: 'ipv4Mapped' },
    'nat64.test': { A: [], AAAA: ['64:ff9b::7f00:1'], range: 'rfc6052' },
    'metadata.test': { A: ['169.254.169.254'], AAAA: [], range: 'linkLocal' },
    'metadata6.test': { A: [], AAAA: ['fd00:ec2::254'], range: 'uniqueLocal' },
    'private.test': { A: ['10.0.0.1'], AAAA: [], range: 'private' },
    'all.test': { A: ['0.0.0.0'], AAAA: [], range: 'unspecified' },
  }
  const { send } = await sending({ allowed: [], answers: (name, type) => names[name]?.[type] ?? [] })
  for (const [name, { range }] of Object.entries(names)) {
    const error = `address not allowed: ${range}`
    expect(await send(`http://${name}:${port}`), name).toMatchObject({ status: null, error })
  }
  expect(connections()).toBe(0)
})

test('a name server that answers differently the next time gains nothing', async ({ running, sending }) => {
  const allowed = await running(httpReceiver(okAndGone, { address: '127.0.0.2' }))
  const inside = await running(httpReceiver(ok, { address: '127.0.0.1', port: allowed.port }))
  const { send, asked } = await sending({
    allowed: ['127.0.0.2'],
    answers: (_, type, before) => (type === 'AAAA' ? [] : [before % 2 === 0 ? '127.0.0.2' : '127.0.0.1']),
  })
  const errors: (string | null)[] = []
  for (let round = 0; round < 4; round++) errors.push((await send(`http://rebinding.test:${allowed.port}`)).error)
  const refused = 'address not allowed: loopback'
  expect(errors).toEqual([null, refused, null, refused])
  // Looked up once per connection: the address that was checked is the one connected to.
  expect(asked.filter((question) => question === 'A rebinding.test')).toHaveLength(4)
  expect([allowed.connections(), inside.connections()]).toEqual([2, 0])
})

test('a persistent connection stays with the address that was checked', async ({ running, sending }) => {
  const allowed = await running(httpReceiver(ok, { address: '127.0.0.2' }))
  const inside = await running(httpReceiver(ok, { address: '127.0.0.1', port: allowed.port }))
  const answers = (_: string, type: string, before: number) =>
    type === 'AAAA' ? [] : [before === 0 ? '127.0.0.2' : '127.0.0.1']
  const { send } = await sending({ allowed: ['127.0.0.2'], answers })
  const sent: (string | null)[] = []
  for (let round = 0; round < 20; round++) {
    sent.push((await send(`http://rebinding.test:${allowed.port}`)).error)
    // A connection is free again in the next turn of the event loop.
    await nextTurn()
  }
  // The first was allowed, and later ones on its connection; on any other connection they are not.
  expect(sent[0]).toBeNull()
  expect(sent.slice(1)).toContain(null)
  expect([allowed.connections(), inside.connections()]).toEqual([1, 0])
})

test('redirects are not followed', async ({ running, sending }) => {
  const inside = await running(httpReceiver(ok, { address: '127.0.0.1' }))
  const codes = [301, 302, 303, 307, 308]
  let answered = 0
  const location = `http://127.0.0.1:${inside.port}/`
  const redirecting = await running(
    httpReceiver((_, response) => response.writeHead(codes[answered++] ?? 500, { location }).end(), {
      address: '127.0.0.2',
    }),
  )
  const { send } = await sending({ allowed: ['127.0.0.0/8'] })
  for (const status of codes)
    expect(await send(`http://127.0.0.2:${redirecting.port}`)).toMatchObject({
      status,
      error: 'redirects are not followed',
    })
  expect([answered, inside.connections()]).toEqual([codes.length, 0])
})

test('no connection is made to a port that is not allowed', async ({ running, sending }) => {
  const open = await running(httpReceiver(ok))
  const other = await running(httpReceiver(ok))
  const { send } = await sending({ ports: [open.port] })
  expect(await send(`http://127.0.0.1:${open.port}`)).toMatchObject({ status: 200 })
  expect(await send(`http://127.0.0.1:${other.port}`)).toMatchObject({ status: null, error: 'port not allowed' })
  expect(await send('http://127.0.0.1')).toMatchObject({ status: null, error: 'port not allowed' })
  expect(other.connections()).toBe(0)
})

test('this machine is reached under its own name if it is allowed', async ({ running, sending }) => {
  const { port } = await running(httpReceiver(ok))
  const { send, asked } = await sending({ allowed: ['127.0.0.0/8', '::1'] })
  expect(await send(`http://localhost:${port}`)).toMatchObject({ status: 200, error: null })
  expect(asked).toEqual([])
})
