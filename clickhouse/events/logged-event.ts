import { z } from 'zod'
import { dateTime } from '../store/values.js'
import { EVENT_TYPES } from './types.js'

/** An event as readers get it; `EVENT_COLUMNS` selects it. */
export const LoggedEvent = z.object({
  sequence: z.int(),
  id: z.string(),
  type: z.enum(EVENT_TYPES),
  stables: z.array(z.string()),
  occurred_at: dateTime,
  recorded_at: dateTime,
  data: z.string().transform((text) => JSON.parse(text) as Record<string, unknown>),
})
export type LoggedEvent = z.infer<typeof LoggedEvent>

export const EVENT_COLUMNS = 'toUInt32(sequence_number) AS sequence, id, type, stables, occurred_at, recorded_at, data'

/** The parameters that `EVENT_FILTER` needs: as domain/event-filter.ts has them. */
export const EventFilterParams = {
  types: z.array(z.string()).optional(),
  stables: z.array(z.string()).optional(),
}

/** Turns what is not given into what filters nothing. */
export const withFilter = <Params extends { types?: string[] | undefined; stables?: string[] | undefined }>({
  types = [],
  stables = [],
  ...rest
}: Params) => ({ ...rest, types, stables })

/** The condition that domain/event-filter.ts describes. */
export const EVENT_FILTER = `
  (empty({types: Array(String)}) OR has({types: Array(String)}, type))
  AND (empty({stables: Array(String)}) OR empty(stables) OR hasAny(stables, {stables: Array(String)}))`
