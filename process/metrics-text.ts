/** A value of a metric in Prometheus's text format. */
type Sample = { name: string; labels: Readonly<Record<string, string>>; value: number }

/** The metrics of a process, as read at one moment. */
export type MetricsText = {
  /** The sum of a metric's values over all of its labels; undefined if there is none. */
  total: (name: string) => number | undefined
  samples: (name: string) => readonly Sample[]
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Reads Prometheus's text format; lines that are not values are left out. */
export function parseMetrics(text: string): MetricsText {
  const byName = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || !Number.isFinite(Number(value))) continue
    const pairs = [...labels.matchAll(LABEL)].map(([, label, text]) => [label, text])
    const sample = { name, labels: Object.fromEntries(pairs), value: Number(value) }
    byName.set(name, [...(byName.get(name) ?? []), sample])
  }
  const samples = (name: string): readonly Sample[] => byName.get(name) ?? []
  return {
    samples,
    total: (name) => (byName.has(name) ? samples(name).reduce((sum, { value }) => sum + value, 0) : undefined),
  }
}

/** How long a process may take to show its metrics. */
const TIMEOUT_MS = 10_000

/** Reads the metrics of a process, with the token of METRICS if it wants one. Rejects with what is wrong. */
export async function fetchMetrics(url: string, token: string | null): Promise<MetricsText> {
  const response = await fetch(new URL('/metrics', url), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
    ...(token !== null && { headers: { authorization: `Bearer ${token}` } }),
  }).catch((error: Error) => {
    throw new Error((error.cause instanceof Error ? error.cause : error).message)
  })
  if (!response.ok) throw new Error(`its status is ${response.status}`)
  return parseMetrics(await response.text())
}
