import { expect, test } from 'vitest'
import { addressProblem, canonicalUrl, literalAddresses, urlProblem } from '../../../../clickhouse/webhooks/targets.js'
import { type IpNetwork, parseIpNetwork } from '../../../../process/ip-networks.js'

const PUBLIC_ONLY = { networks: [], ports: [80, 443] }
const allowing = (...networks: string[]) => ({
  networks: networks.map((network) => parseIpNetwork(network) as IpNetwork),
  ports: 'any' as const,
})

/**
 * First and last address of every range of IANA's special-purpose registries, and other addresses that cannot be
 * receivers.
 */
const REFUSED = {
  'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255'],
  'private, class A': ['10.0.0.0', '10.255.255.255'],
  'private, class B': ['172.16.0.0', '172.31.255.255'],
  'private, class C': ['192.168.0.0', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1'],
  'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::', 'fe80::1%eth0', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  metadata: ['169.254.169.254', '169.254.170.2', 'fd00:ec2::254', 'fd20:ce::254', '192.0.0.192'],
  'protocol assignments': ['192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.255'],
  documentation: ['192.0.2.0', '198.51.100.7', '203.0.113.255', '2001:db8::', '2001:db8:ffff::1', '3fff::1'],
  '6to4 relays': ['192.88.99.0', '192.88.99.255'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::', '2001:2:0:ffff::'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  reserved: ['240.0.0.0', '255.255.255.254'],
  broadcast: ['255.255.255.255'],
  unspecified: ['::'],
  'unique local': ['fc00::', 'fd12:3456::1', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'site-local, deprecated': ['fec0::', 'feff::1'],
  'IPv4-mapped, also of public ones': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:8.8.8.8'],
  'IPv4-compatible, deprecated': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:808:808'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::', '64:ff9b:1:ffff::a9fe:a9fe'],
  '6to4': ['2002::', '2002:7f00:1::', '2002:a9fe:a9fe::', '2002:808:808::'],
  Teredo: ['2001::', '2001:0:7f00:1::', '2001:0:ffff:ffff::1'],
  'protocol assignments, IPv6': ['2001:1::1', '2001:10::', '2001:20::', '2001:30::', '2001:1ff:ffff::'],
  'discard-only': ['100::', '100::ffff:ffff:ffff:ffff'],
  'segment routing': ['5f00::'],
  'never given out': ['::2', '1::', '1fff:ffff::', '4000::', '8000::1', 'fb00::1', 'fe00::1'],
}

test.for(Object.entries(REFUSED))('addresses that are not public are refused: %s', ([, addresses]) => {
  for (const address of addresses) {
    expect(addressProblem(address, PUBLIC_ONLY), address).toMatch(/^address not allowed: /)
    expect(
      urlProblem(`https://${address.includes(':') ? `[${address.replace(/%.*/, '')}]` : address}/x`, PUBLIC_ONLY),
      address,
    ).toMatch(/^address not allowed: /)
  }
})

test('the addresses next to those ranges are public', () => {
  const neighbours = [
    ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255'],
    ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '203.0.114.0', '223.255.255.255'],
    ...['2000::', '2001:200::1', '2001:4860:4860::8888', '2003::', '2606:4700::1111', '3ffe:ffff::1'],
  ]
  for (const address of neighbours) expect(addressProblem(address, PUBLIC_ONLY), address).toBeNull()
})

test('a network that the operator configures is allowed, and no address outside of it', () => {
  const rules = allowing('127.0.0.0/8', '::1/128', '10.1.0.0/16')
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '10.1.255.255', '8.8.8.8'])
    expect(addressProblem(address, rules), address).toBeNull()
  for (const address of ['10.2.0.0', '::2', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '169.254.169.254'])
    expect(addressProblem(address, rules), address).not.toBeNull()
})

test.for([
  'http://127.1/',
  'http://0x7f.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.01/',
  'http://127.0.0.1./',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/',
  'http:127.0.0.1/',
  'http:\\\\127.0.0.1\\',
  'http://0/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://ⓛocalhost/',
  'http://anything.localhost/',
])('another spelling of this machine is refused: %s', (url) => {
  expect(urlProblem(url, PUBLIC_ONLY)).toMatch(/^address not allowed: /)
})

test('localhost is allowed if both its addresses are', () => {
  expect(urlProblem('http://localhost:4000/hook', allowing('127.0.0.0/8', '::1'))).toBeNull()
  expect(urlProblem('http://localhost:4000/hook', allowing('127.0.0.0/8'))).toBe('address not allowed: loopback')
  expect(literalAddresses('localhost.example.com')).toBeNull()
})

test.for([
  ['', 'must be an absolute URL'],
  ['/hook', 'must be an absolute URL'],
  ['example.com/hook', 'must be an absolute URL'],
  ['https://', 'must be an absolute URL'],
  ['http://1.2.3.4.5/', 'must be an absolute URL'],
  ['http://[fe80::1%25eth0]/', 'must be an absolute URL'],
  ['ftp://example.com/', 'must start with https:// or http://'],
  ['file:///etc/passwd', 'must start with https:// or http://'],
  ['javascript:alert(1)', 'must start with https:// or http://'],
  ['https://user@example.com/', 'must not have a user name or password'],
  ['https://:secret@example.com/', 'must not have a user name or password'],
  ['https://example.com/#part', 'must not have a fragment'],
  ['https://example.com/#', 'must not have a fragment'],
  ['https://example.com/a b', 'must not have spaces or control characters'],
  ['https://example.com/\r\nX-Injected: yes', 'must not have spaces or control characters'],
  [' https://example.com/', 'must not have spaces or control characters'],
  [`https://example.com/${'a'.repeat(2029)}`, 'must have at most 2048 characters'],
  ['https://example.com:22/', 'port not allowed'],
  ['http://example.com:6379/', 'port not allowed'],
  ['http://example.com:0/', 'port not allowed'],
] as const)('%s: %s', ([url, problem]) => {
  expect(urlProblem(url, PUBLIC_ONLY)).toBe(problem)
})

test('http and https are allowed on their default ports and on the ports that the operator configures', () => {
  const urls = ['http://example.com', 'https://example.com/?a=b', 'http://example.com:443/', 'https://example.com:80/']
  for (const url of [...urls, `https://example.com/${'a'.repeat(2028)}`, 'https://bücher.example/'])
    expect(urlProblem(url, PUBLIC_ONLY), url).toBeNull()
  expect(urlProblem('https://example.com:8443/', { networks: [], ports: [8443] })).toBeNull()
  expect(urlProblem('https://example.com/', { networks: [], ports: [8443] })).toBe('port not allowed')
})

test('port 0 is refused, also where every port is allowed', () => {
  for (const rules of [PUBLIC_ONLY, allowing('0.0.0.0/0')])
    expect(urlProblem('https://example.com:0/', rules)).toBe('port not allowed')
  expect(urlProblem('https://example.com:1/', allowing())).toBeNull()
})

test.for([
  ['HTTPS://Example.COM:443', 'https://example.com/'],
  ['http://@example.com:80/a/./b/../c?q=1', 'http://example.com/a/c?q=1'],
  ['https://:@example.com/é', 'https://example.com/%C3%A9'],
  ['https:\\\\example.com\\x', 'https://example.com/x'],
] as const)('%s is stored as it is called', ([text, url]) => {
  expect(urlProblem(text, PUBLIC_ONLY)).toBeNull()
  expect(canonicalUrl(text)).toBe(url)
})

test('no number of dots after a host makes another host of an address', () => {
  for (const host of ['127.0.0.1', '169.254.169.254', '0x7f000001', '2130706433', 'localhost', '[::1]'])
    for (const dots of ['..', '...', '%2e.', '.%2e', '%2e%2e', '。。', '．.'])
      expect(urlProblem(`http://${host}${dots}/`, PUBLIC_ONLY), `${host}${dots}`).not.toBeNull()
  expect(urlProblem('https://a..example.com/', PUBLIC_ONLY)).not.toBeNull()
  expect(urlProblem('https://.../', PUBLIC_ONLY)).not.toBeNull()
  expect(urlProblem('https://example.com./', PUBLIC_ONLY)).toBeNull()
})
