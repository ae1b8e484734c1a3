import { z } from 'zod'
import { CoverageSpec } from './shapes.js'

const prose = z.string().min(20)
const rating = z.enum(['low', 'medium', 'high', 'unrated'])

/** The answer of /analysis, field by field as specified, and the fields that this service adds. */
export const AnalysisSpec = z.strictObject({
  address: z.string().regex(/^0x[0-9a-f]{40}$/),
  symbol: z.string(),
  briefing: z.strictObject({
    origin: prose,
    backing: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
    issuer_context: prose,
    risk: z.strictObject({ peg_risk: rating, policy_risk: rating, centralization_risk: rating }),
    // Beyond the specification.
    origin_kind: z.enum(['curated', 'measured']),
    risk_basis: z.strictObject({ peg_risk: prose, policy_risk: prose, centralization_risk: prose }),
    sources: z.array(z.strictObject({ title: z.string(), url: z.string().startsWith('https://') })),
    reviewed_on: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d$/)
      .nullable(),
    measured_at: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      .nullable(),
  }),
  coverage: CoverageSpec,
})
