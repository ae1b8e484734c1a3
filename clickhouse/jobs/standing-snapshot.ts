/**
 * The condition under which a row of a snapshot table stands: no rollback of reorganized blocks has removed what it was
 * made of since. `kept_time` is the time of the last block that a rollback keeps, and blocks of that very second may
 * have been removed. What a backfill has added to leaves a row standing until its slot is done again: that may reach back
 * for months, and nothing of the row is wrong but what was not known.
 */
export const STANDS = `NOT arrayExists(rollback -> rollback.1 > revision AND rollback.2 <= slot_at,
                      (SELECT groupUniqArray((history_revisions.revision, kept_time)) FROM history_revisions WHERE is_rollback))`
