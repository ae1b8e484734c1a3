import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * A receiver rejects signatures that are older than this or further in the future, in seconds, so that recorded
 * deliveries cannot be replayed later.
 */
const SIGNATURE_TOLERANCE_SECONDS = 300

/** The key is the secret as issued, including `whsec_`, in UTF-8. */
const hmacOf = (secret: string, timestamp: string, body: string | Buffer): Buffer =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()

/**
 * The value of X-Service-Signature for a body sent at `at`: `t=<unix seconds>,v1=<hexadecimal HMAC-SHA256 of "t.body">`,
 * with one v1 for each of `secrets`, newest first. There are two while a secret is being replaced.
 */
export function signatureHeader(sent: { body: string | Buffer; secrets: readonly string[]; at: Date }): string {
  const timestamp = Math.floor(sent.at.getTime() / 1000).toString()
  const signatures = sent.secrets.map((secret) => `v1=${hmacOf(secret, timestamp, sent.body).toString('hex')}`)
  return [`t=${timestamp}`, ...signatures].join(',')
}

/** Why a signature is not accepted. */
export type SignatureProblem = 'missing' | 'malformed' | 'too old' | 'from the future' | 'wrong'

/**
 * What is wrong with the signature of a delivery received at `now`; null if one of its v1 values was made with `secret`
 * over exactly these bytes. Parts of the header other than t and v1 are reserved for later versions and ignored.
 */
export function signatureProblem(received: {
  header: string | undefined
  body: string | Buffer
  secret: string
  now: Date
}): SignatureProblem | null {
  if (received.header === undefined) return 'missing'
  const parts = received.header.split(',').map((part) => part.trim())
  const valuesOf = (name: string): string[] =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
  const [timestamp, ...repeated] = valuesOf('t')
  const signatures = valuesOf('v1')
  if (timestamp === undefined || repeated.length > 0 || signatures.length === 0) return 'malformed'
  if (!/^\d{1,12}$/.test(timestamp) || !signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature)))
    return 'malformed'
  const age = Math.floor(received.now.getTime() / 1000) - Number(timestamp)
  if (age > SIGNATURE_TOLERANCE_SECONDS) return 'too old'
  if (age < -SIGNATURE_TOLERANCE_SECONDS) return 'from the future'
  const expected = hmacOf(received.secret, timestamp, received.body)
  return signatures.some((signature) => timingSafeEqual(Buffer.from(signature, 'hex'), expected)) ? null : 'wrong'
}
