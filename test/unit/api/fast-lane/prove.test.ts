import { PassThrough } from 'node:stream'
import { fastify } from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import fastLane from '../../../../api/fast-lane/fast-lane.js'
import { isSentAsRendered } from '../../../../api/fast-lane/prove.js'
import type { sendRendered } from '../../../../api/fast-lane/send-rendered.js'

test('this version of Node sends a response as it is rendered', async () => {
  expect(await isSentAsRendered()).toBe(true)
})

const wrong: Record<string, typeof sendRendered> = {
  'that renders a head of its own': (response, _, body) => void response.end(body),
  'that sends the head twice': (response, head, body) => {
    response.socket?.write(`${head}\r\n`)
    response.end(body)
  },
  'that throws': () => {
    throw new TypeError('cannot set _header')
  },
}
for (const [name, send] of Object.entries(wrong))
  test(`a Node ${name} is detected`, async () => {
    expect(await isSentAsRendered(send)).toBe(false)
  })

test('if the test fails, the fast lane stays off, logs that once and does not change the server', async () => {
  const lines: string[] = []
  const log = new PassThrough().on('data', (line) => lines.push(String(line)))
  const app = fastify({ loggerInstance: pino({}, log) })
  onTestFinished(() => app.close())
  const before = app.server.listeners('request')
  await app.register(fastLane, { newId: () => '', trustProxy: [], prove: async () => false })
  expect(app.server.listeners('request')).toEqual(before)
  expect(app.fastLane).toEqual({ isOn: false, answered: 0 })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('the fast lane stays off')
})
