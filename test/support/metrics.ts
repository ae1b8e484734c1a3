/** The names of the metrics in Prometheus's text format; of a histogram, those of its series. */
export const metricNames = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name],
  )

/** The value of a metric without labels; undefined if there is none. */
export function metricValue(text: string, name: string): number | undefined {
  const line = text.split('\n').find((line) => line.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}
