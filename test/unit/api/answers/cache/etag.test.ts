import { expect, test } from 'vitest'
import { digestOf, etagOf, matchingEtag } from '../../../../../api/answers/cache/answer.js'

const digest = digestOf(Buffer.from('{"price":1}'))

test('an ETag changes with the body and with its coding', () => {
  expect(digestOf(Buffer.from('{"price":2}'))).not.toBe(digest)
  expect(etagOf(digest, 'identity')).toMatch(/^"[\w-]{27}"$/)
  expect(etagOf(digest, 'br')).toBe(`"${digest}-br"`)
})

test.each([
  [`"${digest}"`, `"${digest}"`],
  [`W/"${digest}"`, `"${digest}"`],
  [`"${digest}-gzip"`, `"${digest}-gzip"`],
  [`"other", W/"${digest}-br"`, `"${digest}-br"`],
  ['*', `"${digest}"`],
  [`"${digest}-tar"`, null],
  [`"${digest}x"`, null],
  [`"x${digest}"`, null],
  [digest, null],
  ['"other"', null],
  ['"', null],
  ['', null],
])('If-None-Match %j', (header, matched) => {
  expect(matchingEtag(header, digest)).toBe(matched)
})
