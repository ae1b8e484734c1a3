import { expect, test } from 'vitest'
import { type IpNetwork, isInNetwork, parseIpAddress, parseIpNetwork } from '../../../process/ip-networks.js'

test.for([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.0.0.0', '10.0.0.0/8', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.8', '192.0.2.7', false],
  ['fd12::1', 'fd00::/8', true],
  ['fe80::1', 'fd00::/8', false],
  ['::ffff:10.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', '::ffff:0:0/96', false],
] as const)('%s in %s: %s', ([address, network, inside]) => {
  expect(isInNetwork(parseIpAddress(address) as never, parseIpNetwork(network) as IpNetwork)).toBe(inside)
})

test.for(['', '10.0.0.0/33', '10/8', '10.0.0/8', 'localhost', '10.0.0.0/', '/8', '10.0.0.0/8/8', '::/129', '1'])(
  '%s is not a network',
  (text) => {
    expect(parseIpNetwork(text)).toBeNull()
  },
)
