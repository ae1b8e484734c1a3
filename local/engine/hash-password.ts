import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ReadStream } from 'node:tty'
import { hashPassword } from './access/password.js'

/**
 * The hash and salt of the password on stdin, as the line of JSON that belongs into the file of users. A line break at
 * the end does not count. At a terminal the password is asked for and not shown. Throws when there is none.
 */
export async function hashFromInput(input: NodeJS.ReadableStream, ask: (prompt: string) => void): Promise<string> {
  const password = (input as ReadStream).isTTY ? await typed(input, ask) : (await text(input)).replace(/\r?\n$/, '')
  if (password === '') throw new Error('hash-password: there is no password on stdin')
  return JSON.stringify(hashPassword(password))
}

async function typed(input: NodeJS.ReadableStream, ask: (prompt: string) => void): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: silent, terminal: true })
  ask('Password: ')
  try {
    return await lines.question('')
  } finally {
    lines.close()
    ask('\n')
  }
}
