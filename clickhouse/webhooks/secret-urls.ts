import { FORMATS, type WebhookFormat } from './formats.js'

const SECRET_DOMAINS = Object.values(FORMATS).flatMap(({ domains }): readonly string[] => domains)

/** Whether a valid URL is a secret, by its format or its host: its path or query lets whoever knows it post. */
export function isSecretUrl(url: string, format: WebhookFormat): boolean {
  const { hostname } = new URL(url)
  const isIn = (domain: string): boolean => hostname === domain || hostname.endsWith(`.${domain}`)
  return FORMATS[format].isUrlSecret || SECRET_DOMAINS.some(isIn)
}

/** As much of a secret URL as may be shown and stored: where it leads. */
export const shownUrl = (url: string): string => `${new URL(url).origin}/…`

/** The id with which the secret URL of a subscription is sealed, so that it opens as nothing else. */
export const urlOwner = (id: string): string => `${id} url`

/** Shorter parts of a path are words, such as `services`. */
const SHORTEST_SECRET = 12

/** A receiver's answer without the parts of the secret URL that it may quote. */
export function withoutUrl(text: string, url: string): string {
  const { pathname, search } = new URL(url)
  const parts = [pathname + search, pathname, ...pathname.split('/'), ...search.slice(1).split(/[&=]/)]
  const secrets = parts.flatMap((part) => [
    part,
    decoded(part),
    part.replace(/^bot/, ''),
    decoded(part).replace(/^bot/, ''),
  ])
  const longest = [...new Set(secrets)]
    .filter((part) => part.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
  return longest.reduce((masked, part) => masked.replaceAll(part, '…'), text)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
