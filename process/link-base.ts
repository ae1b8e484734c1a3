/** The start of links to the service at a URL, which ends with a slash: without its credentials, query and fragment. */
export function linkBase(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.endsWith('/') ? pathname : `${pathname}/`}`
}
