/**
 * How often a drill repeats what it does: `usual` times in every run, which is enough to find what usually breaks, `full`
 * times in `npm run drill`, and as often as the environment variable says where it is set.
 */
export const depth = (variable: string, usual: number, full: number): number =>
  Number(process.env[variable] ?? (process.env.DRILL === 'yes' ? full : usual))
