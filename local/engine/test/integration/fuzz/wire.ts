import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { basic } from '../engine.js'
import type { Random } from './random.js'

export type Ask = { url: Record<string, string>; body: Buffer; headers: Record<string, string>; method: string }
/**
 * `status` is 0 if there was no complete response. `isSent` is whether the server may have received the whole request.
 */
export type Outcome = { status: number; code: string | undefined; body: Buffer; isSent: boolean }

/** Far longer than any request takes; one that takes longer hangs. */
const hangMs = 60_000

export const agent = new Agent({ keepAlive: true, maxSockets: 64 })

const pathOf = (ask: Ask) => `/?${new URLSearchParams(ask.url)}`

/** An ordinary exchange, with the body in `parts` parts and pauses of up to `pauseMs` between them. */
export function exchange(base: URL, ask: Ask, parts: Buffer[], pause: () => number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const options = {
      host: base.hostname,
      port: base.port,
      path: pathOf(ask),
      method: ask.method,
      headers: ask.headers,
      agent,
    }
    let isSent = false
    const hang = setTimeout(() => reject(new Error(`hangs: ${pathOf(ask)} ${ask.body.subarray(0, 500)}`)), hangMs)
    const finish = (outcome: Outcome) => {
      clearTimeout(hang)
      resolve(outcome)
    }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      const code = String(response.headers['x-clickhouse-exception-code'] ?? '') || undefined
      const end = (status: number) => finish({ status, code, body: Buffer.concat(chunks), isSent })
      response.on('end', () => end(response.complete ? (response.statusCode ?? 0) : 0))
      response.on('error', () => end(0))
    })
    sent.on('error', (error) => {
      // Explains why a request got no response.
      const why = `${error.message} (${sent.reusedSocket ? 'kept' : 'new'} connection)`
      finish({ status: 0, code: undefined, body: Buffer.from(why), isSent })
    })
    const send = async () => {
      for (const part of parts) {
        if (sent.destroyed) return
        sent.write(part)
        const ms = pause()
        if (ms > 0) await sleep(ms)
      }
      sent.end(() => {
        isSent = true
      })
    }
    void send()
  })
}

/** Sends all or part of a request and disconnects before, during or after the response. */
export function abandon(base: URL, ask: Ask, random: Random): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const isCut = ask.body.length > 0 && random.chance(0.5)
    const options = {
      host: base.hostname,
      port: base.port,
      path: pathOf(ask),
      method: ask.method,
      agent: false as const,
    }
    const headers = { ...ask.headers, 'Content-Length': String(ask.body.length) }
    const afterMs = random.pick([0, 1, 3, 10, 40, 150])
    const isAtAnswer = random.chance(0.4)
    const hang = setTimeout(() => reject(new Error(`hangs: ${pathOf(ask)}`)), hangMs)
    const sent = request({ ...options, headers }, (response: IncomingMessage) => {
      response.on('error', () => undefined)
      if (!isAtAnswer) return
      response.once('data', () => {
        response.pause()
        setTimeout(() => sent.destroy(), random.pick([0, 1, 50]))
      })
      response.once('end', () => sent.destroy())
    })
    sent.on('error', () => undefined)
    sent.once('close', () => {
      clearTimeout(hang)
      resolve({ status: 0, code: undefined, body: Buffer.alloc(0), isSent: !isCut })
    })
    sent.write(isCut ? ask.body.subarray(0, random.int(ask.body.length)) : ask.body)
    if (!isCut) sent.end()
    setTimeout(() => sent.destroy(), isAtAnswer && !isCut ? 5_000 : afterMs)
  })
}

/** Sends raw bytes that may not be HTTP at all. Resolves when the server or the client has closed the connection. */
export function raw(base: URL, bytes: Buffer, waitMs: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const hang = setTimeout(() => reject(new Error(`hangs: ${bytes.subarray(0, 500)}`)), hangMs)
    const socket = connect(Number(base.port), base.hostname, () => {
      socket.write(bytes)
      // Half-closed: the server has to answer or refuse what it received.
      setTimeout(() => socket.end(), waitMs)
      setTimeout(() => socket.destroy(), waitMs + 2_000)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.once('close', () => {
      clearTimeout(hang)
      resolve({ status: 0, code: undefined, body: Buffer.concat(chunks), isSent: false })
    })
  })
}

/** A request's head and body as text. */
export function onTheWire(ask: Ask): Buffer {
  const lines = [`${ask.method} ${pathOf(ask)} HTTP/1.1`, 'Host: x', `Authorization: ${basic.Authorization}`]
  for (const [name, value] of Object.entries(ask.headers)) lines.push(`${name}: ${value}`)
  lines.push(`Content-Length: ${ask.body.length}`, '', '')
  return Buffer.concat([Buffer.from(lines.join('\r\n')), ask.body])
}
