/** The root of the public API. */
export const API = '/api/v1'

/** A path with the parameters that are not empty. */
export function withQuery(path: string, parameters: Record<string, string | number | null | undefined>): string {
  const entries = Object.entries(parameters).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const query = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()
  return query === '' ? path : `${path}?${query}`
}
