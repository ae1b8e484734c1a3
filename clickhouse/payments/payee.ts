/** Who is paid, in which TIP-20, for the answers of which service. Addresses in lower case. */
export type Payee = { recipient: string; currency: string; realm: string }

type PayeeEnv = {
  PAYMENT_RECIPIENT?: string | undefined
  PAYMENT_CURRENCY: string
  PUBLIC_URL?: string | undefined
}

/** The payee that the environment names; null where it names no recipient. The realm is the host of PUBLIC_URL. */
export function payeeOf({ PAYMENT_RECIPIENT, PAYMENT_CURRENCY, PUBLIC_URL }: PayeeEnv): Payee | null {
  if (PAYMENT_RECIPIENT === undefined) return null
  const realm = new URL(PUBLIC_URL ?? 'http://localhost').hostname
  return { recipient: PAYMENT_RECIPIENT, currency: PAYMENT_CURRENCY, realm }
}
