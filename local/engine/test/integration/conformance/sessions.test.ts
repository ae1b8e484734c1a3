import { expect } from 'vitest'
import { conforms } from './server.js'

conforms(
  'a session keeps what SET, USE and temporary tables say, and nothing that came with one request',
  async ({ client, database }) => {
    const session_id = `${database}-kept`
    const ask = async (query: string, clickhouse_settings = {}) =>
      (await client.query({ query, session_id, format: 'JSONEachRow', clickhouse_settings })).json()
    await client.command({ query: 'CREATE TEMPORARY TABLE held (a UInt8)', session_id })
    await client.command({ query: 'INSERT INTO held VALUES (7)', session_id })
    await client.command({ query: 'SET max_threads = 3', session_id })
    expect(await ask("SELECT a, getSetting('max_block_size') AS b FROM held", { max_block_size: '123' })).toEqual([
      { a: 7, b: 123 },
    ])
    expect(await ask("SELECT getSetting('max_threads') AS t, getSetting('max_block_size') AS b")).toEqual([
      { t: 3, b: 65409 },
    ])
    await expect(client.query({ query: 'SELECT * FROM held' })).rejects.toMatchObject({ code: '60' })
  },
)

conforms('a session runs one query at a time, and a second one is error 373', async ({ client, database }) => {
  const session_id = `${database}-locked`
  const both = [1, 2].map(() => client.command({ query: 'SELECT sleep(0.5)', session_id }))
  const outcomes = await Promise.allSettled(both)
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(reasons).toEqual([expect.objectContaining({ code: '373', type: 'SESSION_IS_LOCKED' })])
})

conforms('session_check refuses a session that does not exist with error 372', async ({ http, database }) => {
  const url = { session_id: `${database}-checked` }
  const unknown = await http({ query: 'SELECT 1', url: { ...url, session_check: '1' } })
  expect(unknown.headers['x-clickhouse-exception-code']).toBe('372')
  expect(await http({ query: 'SELECT 1', url })).toMatchObject({ status: 200 })
  expect(await http({ query: 'SELECT 1', url: { ...url, session_check: '1' } })).toMatchObject({ status: 200 })
})

conforms('a session ends when it is not used for session_timeout', async ({ http, database }) => {
  const session = (session_timeout: string) => ({ session_id: `${database}-short`, session_timeout })
  await http({ query: 'CREATE TEMPORARY TABLE brief (a UInt8)', url: session('60') })
  const exists = async (timeout = '1') => {
    const url = { ...session(timeout), session_check: '1' }
    const { headers, text } = await http({ query: 'SELECT count() FROM brief', url })
    return { code: headers['x-clickhouse-exception-code'], text }
  }
  expect(await exists('60')).toMatchObject({ text: '0\n' })
  expect(await exists()).toMatchObject({ text: '0\n' })
  // Each check restarts the timeout of a second; a server closes sessions in steps of a second.
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  expect(await exists()).toMatchObject({ code: '372' })
})

conforms('close_session ends the session after the request', async ({ http, database }) => {
  const url = { session_id: `${database}-closed` }
  await http({ query: 'SELECT 1', url })
  await http({ query: 'SELECT 1', url: { ...url, close_session: '1' } })
  const gone = await http({ query: 'SELECT 1', url: { ...url, session_check: '1' } })
  expect(gone.headers['x-clickhouse-exception-code']).toBe('372')
})

conforms('an error does not end a session', async ({ http, database }) => {
  const url = { session_id: `${database}-sturdy` }
  await http({ query: 'CREATE TEMPORARY TABLE stays (a UInt8)', url })
  expect(await http({ query: 'SELECT throwIf(1)', url })).toMatchObject({ status: 500 })
  expect(await http({ query: 'SELECT * FROM nowhere', url })).toMatchObject({ status: 404 })
  expect(await http({ query: 'SELECT count() FROM stays', url })).toMatchObject({ text: '0\n' })
})

conforms('a bad session_timeout is refused', async ({ http, database }) => {
  for (const session_timeout of ['x', '3601']) {
    const answer = await http({ query: 'SELECT 1', url: { session_id: `${database}-bad`, session_timeout } })
    expect(answer.headers['x-clickhouse-exception-code'], session_timeout).toBe('374')
  }
})

conforms('an empty session_id is error 744', async ({ http }) => {
  const { headers } = await http({ query: 'SELECT 1', url: { session_id: '' } })
  expect(headers['x-clickhouse-exception-code']).toBe('744')
})
