import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { addressProblem } from '../../../../clickhouse/webhooks/targets.js'
import { randomFor } from '../../../../local/chain/random.js'
import { requireTool } from '../../../support/tools.js'

/** Special-purpose ranges; mistakes are likely at their ends. */
const SPECIAL = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4', '::/128', '::1/128', '::/96', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'],
  ...['100::/64', '2001::/32', '2001::/23', '2001:2::/48', '2001:db8::/32', '2001:20::/28', '2002::/16', '3fff::/20'],
  ...['2000::/3', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

/** Relays and name servers of the internet itself, and assignments of IETF protocols. */
const NO_RECEIVERS = /^192\.(0\.0|31\.196|52\.193|88\.99|175\.48)\./

const PYTHON = `
import ipaddress, sys
for line in sys.stdin:
    address = ipaddress.ip_address(line.strip())
    print(int(address.is_global and not address.is_multicast and not address.is_reserved))
`

const toNumber = (bytes: readonly number[]): bigint => bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)

const toAddress = (value: bigint, bytes: number): string =>
  ipaddr
    .fromByteArray(Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * (bytes - 1 - i))) & 255n)))
    .toNormalizedString()

/** The first and last address of a network, and its neighbours. */
function edgesOf(network: string): string[] {
  const [first, bits] = ipaddr.parseCIDR(network)
  const bytes = first.toByteArray()
  const from = toNumber(bytes)
  const to = from + (1n << BigInt(8 * bytes.length - bits)) - 1n
  const isAddress = (value: bigint) => value >= 0n && value < 1n << BigInt(8 * bytes.length)
  return [from - 1n, from, to, to + 1n].filter(isAddress).map((value) => toAddress(value, bytes.length))
}

test('every address that webhooks may be sent to is also public according to Python', async () => {
  const random = randomFor(7, 'addresses')
  const anyOf = (bytes: number) => toAddress(toNumber(Array.from({ length: bytes }, () => random.int(0, 255))), bytes)
  const inSpecial = () => {
    const [first, bits] = ipaddr.parseCIDR(random.pick(SPECIAL))
    const bytes = first.toByteArray()
    const noise = toNumber(bytes.map(() => random.int(0, 255))) & ((1n << BigInt(8 * bytes.length - bits)) - 1n)
    return toAddress(toNumber(bytes) + noise, bytes.length)
  }
  const addresses = [
    ...SPECIAL.flatMap(edgesOf),
    ...Array.from({ length: 5000 }, () => anyOf(4)),
    ...Array.from({ length: 5000 }, () => anyOf(16)),
    ...Array.from({ length: 10_000 }, inSpecial),
  ]
  requireTool('python3')
  const python = spawn('python3', ['-c', PYTHON], { stdio: ['pipe', 'pipe', 'inherit'] })
  python.stdin.end(`${addresses.join('\n')}\n`)
  const [printed] = await Promise.all([text(python.stdout), once(python, 'close')])
  const verdicts = printed.trim().split('\n')
  expect(verdicts).toHaveLength(addresses.length)

  const known = new Set(addresses.filter((_, i) => verdicts[i] === '1'))
  const allowed = new Set(addresses.filter((address) => addressProblem(address, { networks: [] }) === null))
  expect([...allowed].filter((address) => !known.has(address))).toEqual([])
  // Not because nothing is allowed: of IPv4, everything that Python considers public is, except these few.
  const refused = [...known].filter((address) => !address.includes(':') && !allowed.has(address))
  expect(refused.filter((address) => !NO_RECEIVERS.test(address))).toEqual([])
  expect(allowed.size).toBeGreaterThan(4000)
})
