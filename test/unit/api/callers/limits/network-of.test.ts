import { expect, test } from 'vitest'
import { networkOf } from '../../../../../api/callers/limits/address.js'

test.for([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['192.0.2.7:4711', 'unknown'],
  ['<script>', 'unknown'],
] as const)('%s counts as %s', ([address, network]) => {
  expect(networkOf(address)).toBe(network)
})
