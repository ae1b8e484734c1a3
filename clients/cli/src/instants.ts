const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 }

/** The start of a period: `90m`, `12h` or `7d` before `now`, or an instant. null if it is neither, or not before `now`. */
export function sinceOf(value: string, now: Date): Date | null {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(value) ?? []
  const seconds = SECONDS[unit]
  const from =
    count !== undefined && seconds !== undefined
      ? new Date(now.getTime() - Number(count) * seconds * 1000)
      : /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(value)
        ? new Date(value)
        : null
  return from === null || Number.isNaN(from.getTime()) || from >= now ? null : from
}
