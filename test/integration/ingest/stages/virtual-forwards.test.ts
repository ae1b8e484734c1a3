import { encodeFunctionData, type Hex, numberToHex, toEventSelector } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { accounts, devAccount } from '../../../../local/chain/accounts.js'
import { call } from '../../../../local/chain/calls.js'
import { PATH_USD } from '../../../../local/chain/stables.js'
import { stillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'
import { logPositions, mine, type Receipt } from '../../../support/transactions.js'

// A registration requires 32 bits of work. This salt, from the tests of ox (VirtualMaster), is valid for account 0.
const SALT = numberToHex(0xabf52baf, { size: 32 })
const VIRTUAL = '0x58e21090fdfdfdfdfdfdfdfdfdfd010203040506'

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 30 })
})
afterAll(async () => {
  await chain?.remove()
})

test('a transfer to a virtual address is labelled once, with both ends', async ({ clickhouseEnv, clickhouse }) => {
  const master = devAccount(0)
  const [sender] = accounts.traders
  const data = encodeFunctionData({ abi: Abis.addressRegistry, functionName: 'registerVirtualMaster', args: [SALT] })
  const stable = chain.plan.stables[0]?.address as Hex
  await mine(chain, [{ from: master, calls: [{ to: Addresses.addressRegistry, data }] }])
  const [forwarded, noted, direct] = (await mine(chain, [
    { from: sender, calls: [call.transfer(stable, VIRTUAL, 1_234_567n), call.transfer(PATH_USD.address, VIRTUAL, 5n)] },
    { from: sender, calls: [call.transferWithMemo(stable, VIRTUAL, 89n, 7)] },
    { from: sender, calls: [call.transfer(stable, master.address, 1_000n)] },
  ])) as [Receipt, Receipt, Receipt]
  expect([forwarded, noted, direct].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
  const [, first, , second] = logPositions(forwarded, TRANSFER)
  const [, third] = logPositions(noted, TRANSFER)
  const ends = {
    sender: sender.address.toLowerCase(),
    virtual_address: VIRTUAL,
    recipient: master.address.toLowerCase(),
  }
  expect(await factRows(clickhouse, 'virtual_forwards')).toEqual([
    { stable, ...ends, amount_raw: '1234567', ...first },
    { stable: PATH_USD.address, ...ends, amount_raw: '5', ...second },
    { stable, ...ends, amount_raw: '89', ...third },
  ])
})
