import { defaultMaxConcurrentQueries } from './threads.js'

/** What `--help` says: every flag and variable. */
export const help = `A ClickHouse for one machine: chDB behind ClickHouse's HTTP interface, on 127.0.0.1.

  plumbline-clickhouse --data DIR [--port N] [--users FILE] [--backups DIR] [--query-log-days N]
  plumbline-clickhouse hash-password < FILE   a password's hash and salt, for the file of users

Flags
  --data DIR            the data directory; made if missing, one process at a time
  --port N              TCP port; 0 takes a free one. Or CLICKHOUSE_PORT. Default: 8123
  --users FILE          users besides the owner (JSON, mode 0600). Or CLICKHOUSE_USERS_FILE
  --backups DIR         where BACKUP writes and RESTORE reads. Default: backups in the data directory
  --query-log-days N    how long system.query_log keeps a row; 0 keeps none. Default: 7
  --help                this text

Variables
  CLICKHOUSE_USER                     the owner, who may do everything. Default: default
  CLICKHOUSE_PASSWORD                 his password. Required, unless:
  CLICKHOUSE_ALLOW_EMPTY_PASSWORD     1 lets him go without one. Default: 0
  CLICKHOUSE_MAX_CONCURRENT_QUERIES   one more is refused with ClickHouse's error 202. Default here: ${defaultMaxConcurrentQueries}
  CLICKHOUSE_MAX_SERVER_MEMORY_MB     a query beyond it gets error 241. Default: 75 % of the machine's or container's
  CLICKHOUSE_PORT                     as --port
  CLICKHOUSE_USERS_FILE               as --users

It says that it is ready in one line of JSON on stdout, and ends in good order on SIGTERM, SIGINT and SIGHUP.
`
