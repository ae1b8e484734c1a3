import type { FactPosition } from '../chain/position.js'

/** A stable is to be quoted in another token; it is from the QuoteTokenUpdate on. */
export type QuoteTokenProposal = FactPosition & { stable: string; quote_token: string; updater: string }

/** A stable has another logo. The address is whatever its issuer wrote. */
export type LogoUpdate = FactPosition & { stable: string; logo_uri: string; updater: string }
