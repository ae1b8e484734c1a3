/**
 * Files with kills, crashes, reorganizations, backfills and long histories, which take half of the time of a whole run.
 * `npm test` leaves them out; CI=true includes them, and so do `npm run test:all` and drills.
 */
export const SLOW = {
  ending: '.slow.test.ts',
  areRun: process.env.CI === 'true' || process.env.DRILL === 'yes',
}
