/** For how long before an instant all states are looked at, in seconds: a sampled stable is read every five minutes. */
export const RECENT_SECONDS = 900

/**
 * SQL: the stable and the time of its newest state read up to an instant, of each of the stables that a subquery has. What is
 * older than a quarter of an hour is only looked at for stables that were not read since.
 */
export const newestReads = (stables: string, at: string): string => {
  const recently = `block_time > ${at} - ${RECENT_SECONDS} AND block_time <= ${at}`
  const others = `${stables} WHERE stable NOT IN (SELECT stable FROM state_reads WHERE ${recently})`
  return `
                SELECT stable, max(block_time) FROM state_reads WHERE stable IN (${stables}) AND ${recently} GROUP BY stable
                UNION ALL
                SELECT stable, max(block_time) FROM state_reads WHERE stable IN (${others}) AND block_time <= ${at} GROUP BY stable`
}
