import { expect, test } from 'vitest'
import { isSecretUrl, shownUrl, withoutUrl } from '../../../../clickhouse/webhooks/secret-urls.js'

const SLACK = 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'
const TELEGRAM = 'https://api.telegram.org/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage'

test('URLs of chat services are secret by their format and by their host', () => {
  for (const url of [
    SLACK,
    TELEGRAM,
    'https://discord.com/api/webhooks/1/x',
    'https://ptb.discord.com/api/webhooks/1/x',
  ])
    expect(isSecretUrl(url, 'plumbline')).toBe(true)
  expect(isSecretUrl('https://chat.example/hooks/x', 'slack')).toBe(true)
  for (const url of ['https://example.com/discord.com', 'https://notslack.com/', 'https://slack.com.example/'])
    expect(isSecretUrl(url, 'plumbline')).toBe(false)
})

test('what is shown of a secret URL has nothing of its path', () => {
  expect(shownUrl(TELEGRAM)).toBe('https://api.telegram.org/…')
  expect(shownUrl('https://a:b@chat.example:8443/x?y=z')).toBe('https://chat.example:8443/…')
})

test('an answer that quotes its URL keeps no secret part of it', () => {
  expect(withoutUrl('404: /bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage not found', TELEGRAM)).toBe(
    '404: … not found',
  )
  expect(withoutUrl('bad token 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', TELEGRAM)).toBe('bad token …')
  expect(withoutUrl('no hook XXXXXXXXXXXXXXXXXXXXXXXX of services', SLACK)).toBe('no hook … of services')
  expect(withoutUrl('ok', SLACK)).toBe('ok')
  expect(withoutUrl('a%2Fsecret%2Fof%2Fmine a/secret/of/mine', 'https://x.example/?key=a%2Fsecret%2Fof%2Fmine')).toBe(
    '… …',
  )
})
