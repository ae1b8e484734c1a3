import { writeFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { EXAMPLES_DIR, type RecordedAnswers, recordedAnswers } from '../../../../../api/http/openapi/examples.js'
import { PROBLEM_TYPE } from '../../../../../api/http/problem.js'
import { payer } from '../../../../../local/chain/accounts.js'
import { challengeAt, credentialFor, PAID_PATHS, present } from '../../../../support/paying.js'
import { test } from '../../../../support/payments.js'

type Payments = NonNullable<RecordedAnswers['payments']>

/** `npm run examples` writes the answers into the repository; otherwise they are only compared with the recorded ones. */
const IS_RECORDING = process.env.RECORD_EXAMPLES === 'yes'

const headersOf = ({ headers }: Response, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, headers.get(name)]))

/** Types of values, in place of the values. */
const shapeOf = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}

test('the examples of payments in the OpenAPI document are what a service that takes payments answers', async ({
  chain,
  serve,
}) => {
  const { url } = await serve({}, undefined, 600)
  const { path } = PAID_PATHS.analysis
  const demanded = await present(url + path)
  const payments: Payments = {
    402: { [PROBLEM_TYPE]: await demanded.json(), ...headersOf(demanded, 'WWW-Authenticate') },
  }
  // Which of two requests with the same credential comes while the other is being answered is up to chance.
  for (let i = 0; i < 20 && !payments[409]; i++) {
    const credential = await credentialFor(chain.rpcUrl, await challengeAt(url + path), payer)
    const answers = await Promise.all(Array.from({ length: 4 }, () => present(url + path, credential)))
    const paid = answers.find(({ status }) => status === 200)
    if (paid) payments[200] = headersOf(paid, 'Payment-Receipt')
    const waiting = answers.find(({ status }) => status === 409)
    if (waiting) payments[409] = { [PROBLEM_TYPE]: await waiting.json() }
  }
  const free = await present(`${url}/api/v1/stablecoins`)
  payments[200] = { ...payments[200], ...headersOf(free, 'RateLimit', 'RateLimit-Policy') }

  if (IS_RECORDING) await writeFile(new URL('payments.json', EXAMPLES_DIR), `${JSON.stringify(payments, null, 2)}\n`)
  expect(shapeOf(recordedAnswers().payments), 'npm run examples records them again').toEqual(shapeOf(payments))
})
