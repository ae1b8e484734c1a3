/**
 * The condition under which a row of a snapshot table stands: no rollback of reorganized blocks has removed what it was
 * made of since. `kept_time` is the time of the last block that a rollback keeps, and blocks of that very second may
 * have been removed.
 */
export const STANDS = `NOT arrayExists(rollback -> rollback.1 > revision AND rollback.2 <= slot_at,
                      (SELECT groupUniqArray((sequence_number, kept_time)) FROM ingest_rollbacks))`
