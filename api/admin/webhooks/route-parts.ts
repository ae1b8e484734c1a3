import { z } from 'zod'

/** The `config` of a route for the operator. */
export const ADMIN = { tier: 'admin' } as const

/** What the descriptions of these routes have in common. */
export const ofAdmin = { tags: ['admin'], security: [{ admin: [] }] }

/** What names a subscription in a path. */
export const SubscriptionParams = z.object({
  id: z.string().max(100).meta({ description: 'The id that the list and its making tell' }),
})
