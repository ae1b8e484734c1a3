import { defaultMaxConcurrentQueries } from './threads.js'

/** The text of `--help`, with every flag and variable. */
export const help = `A ClickHouse for one machine: chDB behind ClickHouse's HTTP interface, on 127.0.0.1.

  plumbline-clickhouse --data DIR [--port N] [--users FILE] [--backups DIR] [--query-log-days N]
  plumbline-clickhouse hash-password < FILE   prints a password's hash and salt for the users file

Flags
  --data DIR            the data directory, created if missing; one process at a time
  --port N              TCP port; 0 takes a free one. Also CLICKHOUSE_PORT. Default: 8123
  --users FILE          users besides the owner (JSON, mode 0600). Also CLICKHOUSE_USERS_FILE
  --backups DIR         directory that BACKUP writes to and RESTORE reads from. Default: backups in the data directory
  --query-log-days N    days to keep rows of system.query_log; 0 disables it. Default: 7
  --help                show this text

Variables
  CLICKHOUSE_USER                     name of the owner, who has all rights. Default: default
  CLICKHOUSE_PASSWORD                 password of the owner. Required unless the next variable is 1
  CLICKHOUSE_ALLOW_EMPTY_PASSWORD     1 allows an empty password. Default: 0
  CLICKHOUSE_MAX_CONCURRENT_QUERIES   most queries at once; more get ClickHouse's error 202. Default here: ${defaultMaxConcurrentQueries}
  CLICKHOUSE_MAX_SERVER_MEMORY_MB     memory limit; beyond it queries get error 241. Default: 75 % of the machine's or container's
  CLICKHOUSE_SANDBOX                  auto, required or off: keep the server from other files and the network. Default: auto
  CLICKHOUSE_PORT                     same as --port
  CLICKHOUSE_USERS_FILE               same as --users

When it is ready, it prints one line of JSON on stdout. SIGTERM, SIGINT and SIGHUP shut it down cleanly.
`
