/** `node parser-process.mjs DIRECTORY` parses the texts of each message, and answers with what the parser says of each. */
import { loadAddon } from '../../../dist/engine/addon.js'

const addon = loadAddon()
const connection = addon.CreateConnection(process.argv[2], [])

async function parse(sql) {
  const { statementCount, queryClass } = await addon.DurableClassifyAsync(connection, sql, 'default')
  const hex = Buffer.from(sql).toString('hex')
  const query = `SELECT formatQuerySingleLineOrNull(unhex('${hex}')) AS f`
  const { bytes } = await addon.QueryAsyncConnection(connection, query, 'JSONEachRow')
  return { count: statementCount, class: queryClass, formatted: JSON.parse(bytes.toString()).f }
}

process.on('message', async (message) => {
  if (message === 'end') {
    addon.CloseConnection(connection)
    process.exit(0)
  }
  const parsed = []
  for (const sql of message) parsed.push(await parse(sql))
  process.send?.(parsed)
})
process.send?.('ready')
