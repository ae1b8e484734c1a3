import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { listPeriods, tokenLists } from '../../clickhouse/chain/token-lists.js'
import { insertVerifyRun } from '../../clickhouse/chain/verify-runs.js'
import { paymentCurrencies } from '../../clickhouse/payments/currencies.js'
import { payeesOf } from '../../clickhouse/payments/ledger.js'
import { connect } from '../../clickhouse/store/client.js'
import { Address } from '../../clickhouse/store/values.js'
import { IngestConfig } from '../../ingest/config.js'
import { claimDatabase, readChainIdentity } from '../../ingest/knowledge/chain-identity.js'
import { rpcOf } from '../../ingest/sources/rpc.js'
import { readFlags } from '../../process/command-line.js'
import { envInt, envUrl, parseEnv } from '../../process/environment.js'
import { createLog, runCommand } from '../../process/run-process.js'
import { terminalText } from '../../process/untrusted-text.js'
import { verify } from './verify.js'

const HELP = `npm run verify -- [--blocks N] [--seed N] [--all] [--sample N] [--api URL]

Reads blocks again from the node, compares all of their facts with the database row by row, and checks the invariants of
the database as a whole. Prints a line for each; exits with 0 when all match, 1 when one does not.

  --blocks N  how many blocks, picked at random (200)
  --seed N    which ones: the same seed picks the same blocks (1)
  --all       every block, made from the chain alone
  --sample N  also asks the API for N answers about random stables and instants, and computes each from the blocks by
              its definition: needs a node with the state of every stored block, reads them all, and holds their facts
              in memory. Routes with a price are asked with the subscription key in VERIFY_API_KEY
  --api URL   where the API is (http://127.0.0.1:3000)
`
const Flags = z.object({
  '--blocks': envInt(1, 10_000_000).default(200),
  '--seed': envInt(0, 2 ** 31 - 1).default(1),
  '--sample': envInt(0, 10_000_000).default(0),
  '--api': envUrl('http', 'https').default('http://127.0.0.1:3000'),
})

/** Of the API's payment settings, verify only needs those that name the recipient. */
const VerifyConfig = IngestConfig.extend({
  PAYMENT_RECIPIENT: Address.optional(),
  PAYMENT_CURRENCY: paymentCurrencies.optional(),
  PUBLIC_URL: envUrl('http', 'https').optional(),
  VERIFY_API_KEY: z.string().optional(),
})

const OPTIONS = {
  blocks: { type: 'string' },
  seed: { type: 'string' },
  all: { type: 'boolean' },
  sample: { type: 'string' },
  api: { type: 'string' },
  help: { type: 'boolean' },
} as const

await runCommand('verify', async () => {
  const { blocks, seed, all, sample, api, help } = readFlags(OPTIONS)
  if (help) {
    console.log(HELP)
    return 0
  }
  const flags = parseEnv(Flags, { '--blocks': blocks, '--seed': seed, '--sample': sample, '--api': api })
  const count = flags['--sample']
  const url = `${flags['--api']}`.replace(/\/$/, '')
  const config = parseEnv(VerifyConfig, process.env)
  const log = createLog('verify', config.LOG_LEVEL)
  const clickhouse = connect(config, {
    application: 'plumbline-verify',
    requestTimeoutMs: 600_000,
    sendsLargeParameters: true,
  })
  const session = connect(config, {
    application: 'plumbline-verify',
    sessionId: randomUUID(),
    requestTimeoutMs: 600_000,
  })
  const stop = new AbortController()
  const started_at = new Date()
  try {
    const rpc = rpcOf(config, log, stop.signal)
    const chain = await readChainIdentity(rpc, config.CHAIN)
    await claimDatabase(clickhouse, chain)
    const findings = await verify({
      clickhouse,
      session,
      rpc,
      periods: listPeriods(await tokenLists(clickhouse)),
      rangeSize: config.BATCH_BLOCKS,
      blocks: all || count > 0 ? null : flags['--blocks'],
      seed: flags['--seed'],
      answers:
        count > 0 ? { count, api: { url, key: config.VERIFY_API_KEY ?? null, signal: stop.signal, clickhouse } } : null,
      payees: payeesOf(config, chain.chain_id),
      onProgress: (done, of) => log.info(`${done} of ${of} compared`),
    })
    // The findings are printed even if this user may not record them.
    await insertVerifyRun(clickhouse, { started_at, ended_at: new Date(), findings }).catch((error: Error) =>
      log.warn(
        { reason: error.message },
        'the findings could not be recorded: /api/v1/status keeps showing older ones',
      ),
    )
    for (const { what, status, scope, differences } of findings) {
      console.log(terminalText(`${status.padEnd(11)}  ${what}: ${scope}`))
      for (const difference of differences) console.log(terminalText(`             ${difference}`))
    }
    const mismatches = findings.filter(({ status }) => status === 'mismatch').length
    const unchecked = findings.filter(({ status }) => status === 'not checked').length
    console.log(`${findings.length - mismatches - unchecked} match, ${mismatches} do not, ${unchecked} not checked`)
    return mismatches === 0 ? 0 : 1
  } finally {
    stop.abort()
    await Promise.all([clickhouse.close(), session.close()])
  }
})
