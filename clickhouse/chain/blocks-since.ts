import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** For each of `times`, of which `oldest` is the first, how many blocks after it are in. No row where there are none. */
export const blocksSince = defineQuery({
  name: 'blocks_since',
  params: z.object({ times: z.array(z.date()), oldest: z.date() }),
  row: z.object({ counts: z.array(z.int()) }),
  sql: `
    SELECT arrayMap(sum -> toUInt32(sum), sumForEach(arrayMap(time -> toUInt32(block_time > time), {times: Array(DateTime)}))) AS counts
    FROM blocks WHERE block_time > {oldest: DateTime}
    HAVING count() > 0`,
})
