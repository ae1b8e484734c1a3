/**
 * How often a drill repeats its work: `usual` times in every run, which is enough to find common faults, `full` times
 * in `npm run drill`, or as often as the environment variable says.
 */
export const depth = (variable: string, usual: number, full: number): number =>
  Number(process.env[variable] ?? (process.env.DRILL === 'yes' ? full : usual))
