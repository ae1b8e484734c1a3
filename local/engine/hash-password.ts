import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ReadStream } from 'node:tty'
import { hashPassword } from './access/password.js'

/**
 * The hash and salt of the password on stdin, as a line of JSON for the users file. A trailing line break is ignored.
 * At a terminal, prompts for the password without showing it. Throws if the password is empty.
 */
export async function hashFromInput(input: NodeJS.ReadableStream, ask: (prompt: string) => void): Promise<string> {
  const password = (input as ReadStream).isTTY ? await typed(input, ask) : (await text(input)).replace(/\r?\n$/, '')
  if (password === '') throw new Error('hash-password: the password on stdin is empty')
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
