import type { FactPosition } from '../chain/position.js'

/** A stable is paused, or goes on. */
export type PauseEvent = FactPosition & { stable: string; is_paused: boolean; updater: string }
