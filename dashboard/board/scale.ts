import type { Scale } from '../state/place.js'
import { SEVERE_BPS } from './stables.js'

/** Up to about this many basis points a scale is linear, beyond it logarithmic. */
const UNITS: Record<Scale, number> = { fine: 2, normal: 10, coarse: 50 }

/** Basis points to a signed distance, where 50 bps are 1: the inverse hyperbolic sine. */
export function distanceScale(scale: Scale): (bps: number) => number {
  const unit = UNITS[scale]
  const atSevere = Math.asinh(SEVERE_BPS / unit)
  return (bps) => Math.asinh(bps / unit) / atSevere
}
