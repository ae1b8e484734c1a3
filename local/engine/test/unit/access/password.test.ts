import { expect, test } from 'vitest'
import { hashPassword, isPassword } from '../../../access/password.js'

test('a hash is as in users.xml: SHA-256 of the password followed by the salt', () => {
  expect(isPassword('abc', { password_sha256_hex: sha256OfAbc, password_salt: '' })).toBe(true)
  expect(isPassword('a', { password_sha256_hex: sha256OfAbc, password_salt: 'bc' })).toBe(true)
  expect(isPassword('ab', { password_sha256_hex: sha256OfAbc, password_salt: '' })).toBe(false)
})

/** FIPS 180-2, appendix B.1. */
const sha256OfAbc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

test('each hash has its own salt and matches its password only', () => {
  const [one, two] = [hashPassword('sécret'), hashPassword('sécret')]
  expect(one).not.toEqual(two)
  for (const hash of [one, two]) {
    expect(isPassword('sécret', hash)).toBe(true)
    expect(isPassword('secret', hash)).toBe(false)
    expect(isPassword('', hash)).toBe(false)
  }
})
