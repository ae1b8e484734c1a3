import { readFile } from 'node:fs/promises'
import { UsageError } from './arguments.js'

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_URL = 'http://127.0.0.1:3000'

/** A URL for requests. Its value is not in the error: it may contain a key. */
function httpUrl(value: string, from: string): string {
  if (!URL.canParse(value)) throw new UsageError(`${from} is not a URL`)
  const { protocol, username, password } = new URL(value)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new UsageError(`${from} does not begin with http:// or https://`)
  if (username !== '' || password !== '') throw new UsageError(`${from} must not have a user name or a password`)
  return value
}

/** Where the service is: `--url`, else PLUMBLINE_URL, else that of `npm start`. */
export function serviceUrl(flag: string | undefined, env: Environment): string {
  if (flag !== undefined) return httpUrl(flag, '--url')
  return httpUrl(env.PLUMBLINE_URL || DEFAULT_URL, 'PLUMBLINE_URL')
}

/** Where the node is: `--rpc`, else PLUMBLINE_RPC_URL. */
export function nodeUrl(flag: string | undefined, env: Environment): string {
  if (flag !== undefined) return httpUrl(flag, '--rpc')
  if (!env.PLUMBLINE_RPC_URL) throw new UsageError('name a node of the chain: --rpc URL or PLUMBLINE_RPC_URL')
  return httpUrl(env.PLUMBLINE_RPC_URL, 'PLUMBLINE_RPC_URL')
}

/** The subscription key in PLUMBLINE_KEY, or in the file that PLUMBLINE_KEY_FILE names. Never an argument: others see those. */
export async function serviceKey(env: Environment): Promise<string | undefined> {
  if (env.PLUMBLINE_KEY) return env.PLUMBLINE_KEY
  if (!env.PLUMBLINE_KEY_FILE) return undefined
  const key = await readFile(env.PLUMBLINE_KEY_FILE, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`PLUMBLINE_KEY_FILE cannot be read: ${error.code}`)
  })
  return key.trim()
}
