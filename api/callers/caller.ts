import type { KeyScope } from './keys/api-key.js'

/** Whoever asks: anybody, someone with a key of his own, or the operator. */
export type Caller =
  | { tier: 'free' }
  | { tier: 'subscriber'; keyId: string; scopes: readonly string[]; requestsPerMinute: number }
  | { tier: 'admin' }

/** Whether the caller may have what a scope opens. The operator may have everything. */
export const hasScope = (caller: Caller, scope: KeyScope): boolean =>
  caller.tier === 'admin' || (caller.tier === 'subscriber' && caller.scopes.includes(scope))

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    /** Only for callers of this tier. */
    tier?: 'admin'
    /** Answers whoever asks: neither a wrong key nor a limit nor load keeps it from that. */
    always?: true
  }
}
