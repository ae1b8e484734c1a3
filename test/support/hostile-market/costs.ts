import type { ClickHouseClient } from '@clickhouse/client'

/** What was sent through a counting client. */
type Sent = { statements: number; rows: number; bytes: number }

/** A client that counts its statements, and the rows that it inserts with their bytes as JSON. */
export function counted(clickhouse: ClickHouseClient): { clickhouse: ClickHouseClient; sent: Sent } {
  const sent: Sent = { statements: 0, rows: 0, bytes: 0 }
  const counts = new Set(['query', 'command', 'exec', 'insert'])
  const proxy = new Proxy(clickhouse, {
    get: (target, key) => {
      const value = Reflect.get(target, key) as unknown
      if (typeof value !== 'function') return value
      if (!counts.has(String(key))) return value.bind(target)
      return (...args: [{ values?: unknown }]) => {
        const { values } = args[0]
        sent.statements++
        if (Array.isArray(values)) {
          sent.rows += values.length
          sent.bytes += JSON.stringify(values).length
        }
        return value.apply(target, args)
      }
    },
  })
  return { clickhouse: proxy, sent }
}
