import { z } from 'zod'

const score = z.number().min(0).max(100)

/** The risk answer, field by field as specified; there may be more fields. */
export const RiskSpec = z.looseObject({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  composite: score,
  components: z.strictObject({ peg_risk: score, peg_break_risk: score, supply_risk: score, policy_risk: score }),
  computed_at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
})
