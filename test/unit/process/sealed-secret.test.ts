import { createDecipheriv, hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { open, SealedSecretError, seal } from '../../../process/sealed-secret.js'

const KEY = Buffer.alloc(32, 7)
const OTHER_KEY = Buffer.alloc(32, 8)
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'

test('a sealed secret can be opened, and no two sealed texts are equal', () => {
  const sealed = [seal(KEY, 'wh_1', SECRET), seal(KEY, 'wh_1', SECRET)]
  expect(sealed[0]).not.toBe(sealed[1])
  for (const one of sealed) {
    expect(one).toMatch(/^v1\.[\w-]+$/)
    expect(open(KEY, 'wh_1', one)).toBe(SECRET)
  }
})

test('it is AES-256-GCM with a separate key, bound to the id', () => {
  const bytes = Buffer.from(seal(KEY, 'wh_1', SECRET).slice(3), 'base64url')
  const key = Buffer.from(hkdfSync('sha256', KEY, '', 'plumbline webhook secrets', 32))
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAAD(Buffer.from('wh_1')).setAuthTag(bytes.subarray(-16))
  expect(Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString()).toBe(SECRET)
})

describe('nothing else opens it', () => {
  const sealed = seal(KEY, 'wh_1', SECRET)
  const refusal = (key: Buffer, id: string, text: string): unknown => {
    try {
      return open(key, id, text)
    } catch (error) {
      return error
    }
  }

  test('another key, another id', () => {
    expect(refusal(OTHER_KEY, 'wh_1', sealed)).toBeInstanceOf(SealedSecretError)
    expect(refusal(KEY, 'wh_2', sealed)).toBeInstanceOf(SealedSecretError)
  })

  test('a text with any bit changed, a truncated one, or anything else', () => {
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expect(refusal(KEY, 'wh_1', `v1.${changed.toString('base64url')}`), `bit ${bit}`).toBeInstanceOf(
        SealedSecretError,
      )
    }
    for (let length = 0; length < bytes.length; length++) {
      const cut = `v1.${bytes.subarray(0, length).toString('base64url')}`
      expect(refusal(KEY, 'wh_1', cut), `${length} bytes`).toBeInstanceOf(SealedSecretError)
    }
    for (const text of ['', 'v1.', SECRET, sealed.slice(3), sealed.replace('v1', 'v2')])
      expect(refusal(KEY, 'wh_1', text), text).toBeInstanceOf(SealedSecretError)
  })

  test('and the error contains none of it', () => {
    const error = refusal(OTHER_KEY, 'wh_1', sealed) as Error
    expect(`${error.message} ${error.cause}`).not.toContain(sealed.slice(3))
    expect(error.message).toContain('wh_1')
  })
})
