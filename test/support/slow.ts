/**
 * Files of kills, crashes, reorganizations, backfills and long histories, half of the time of a whole run. `npm test`
 * leaves them out; they are run with CI=true, and so by `npm run test:all`, and in drills.
 */
export const SLOW = {
  ending: '.slow.test.ts',
  areRun: process.env.CI === 'true' || process.env.DRILL === 'yes',
}
