import { RpcRequestError } from 'viem'
import { expect, test } from 'vitest'
import { isStateUnavailable } from '../../../../ingest/sources/state-unavailable.js'

const refusal = (message: string): Error =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code: -32000, message } })

test.for([
  'BlockOutOfRangeError: block height is 900 but requested was 7',
  'state at block #11052984 is pruned',
  'State at block #3 is pruned',
  'missing trie node ef7df5d88cb1614dc3f143879a653cd90717ee42e967c5fabbcd7505a968f314 (path ) state 0xef is not available',
  'historical state 8b1604e0d19d9be9a94cab027e74134e674bccdb is not available',
  'required historical state unavailable (reexec=128)',
  'No state available for block 0x1b4',
  'project ID does not have access to archive state',
])('a node that says "%s" has dropped the state', (message) => {
  expect(isStateUnavailable(refusal(message))).toBe(true)
})

test.for([
  // A node that lags: the block may come.
  'BlockOutOfRangeError: block height is 7 but requested was 900',
  'header not found',
  'EVM error OutOfGas',
  'rate limit exceeded',
])('a node that says "%s" may answer later', (message) => {
  expect(isStateUnavailable(refusal(message))).toBe(false)
})
