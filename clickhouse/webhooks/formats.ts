/** What is true of a format of webhooks for all who name it. How it is written: `jobs/webhooks/formats/`. */
type FormatTraits = {
  /** The body, as in the description of the API. */
  description: string
  /** Who reads it: people, in a message of words with a link, or a program. */
  readers: 'people' | 'programs'
  /** Whether whoever knows the URL can post. Such a URL is stored encrypted, and only its host is shown. */
  isUrlSecret: boolean
  /** The domains of the service. URLs there are secret, whatever the format. */
  domains: readonly string[]
  /** How the path of the URL must end; null if any path will do. */
  pathEnd: { pattern: RegExp; text: string } | null
  /** Whether a subscription needs a `chat_id`; it is refused in other formats. */
  needsChat: boolean
  /** Why events are never held for quiet hours or a digest; null if they may be. */
  whyNeverHeld: string | null
  /** Most UTF-16 code units of the longest text of a message; null if nothing is cut. */
  mostText: number | null
}

const MESSAGE = {
  description: 'a message for people',
  readers: 'people',
  isUrlSecret: true,
  pathEnd: null,
  needsChat: false,
  whyNeverHeld: null,
} as const satisfies Partial<FormatTraits>

const FOR_PROGRAMS = {
  readers: 'programs',
  isUrlSecret: false,
  domains: [],
  pathEnd: null,
  needsChat: false,
  whyNeverHeld: null,
  mostText: null,
} as const satisfies Partial<FormatTraits>

/** The formats of webhooks, in the order of the documentation. */
export const FORMATS = {
  plumbline: { ...FOR_PROGRAMS, description: 'as documented here, in JSON' },
  slack: { ...MESSAGE, domains: ['slack.com'], mostText: 3000 },
  discord: { ...MESSAGE, domains: ['discord.com', 'discordapp.com'], mostText: 4096 },
  telegram: {
    ...MESSAGE,
    domains: ['telegram.org'],
    pathEnd: { pattern: /\/bot[^/]+\/sendMessage$/, text: '/bot<token>/sendMessage' },
    needsChat: true,
    mostText: 4096,
  },
  alertmanager: {
    ...FOR_PROGRAMS,
    description: 'what Alertmanager 0.16 and newer send to a receiver, version 4',
    whyNeverHeld: 'whose receivers group and mute alerts themselves',
  },
  cloudevents: { ...FOR_PROGRAMS, description: 'CloudEvents 1.0 in structured mode' },
} as const satisfies Record<string, FormatTraits>

export type WebhookFormat = keyof typeof FORMATS
export const WEBHOOK_FORMATS = Object.keys(FORMATS) as [WebhookFormat, ...WebhookFormat[]]

/** The formats that people read. */
export type MessageFormat = {
  [Format in WebhookFormat]: (typeof FORMATS)[Format]['readers'] extends 'people' ? Format : never
}[WebhookFormat]

const listed = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** The formats that have a trait, as words: `slack, discord or telegram`. */
export const formatsThat = (has: (traits: FormatTraits) => boolean): string =>
  listed.format(WEBHOOK_FORMATS.filter((format) => has(FORMATS[format])))

/** What is wrong with the target of a subscription, by the field at fault; null if its format can be sent there. */
export function targetProblem(
  format: WebhookFormat,
  { url, chat_id }: { url: string; chat_id: string },
): { field: 'url' | 'chat_id'; problem: string } | null {
  const { needsChat, pathEnd } = FORMATS[format] satisfies FormatTraits
  if (needsChat && chat_id === '') return { field: 'chat_id', problem: `must be given with the format ${format}` }
  if (!needsChat && chat_id !== '') {
    const withChat = formatsThat((traits) => traits.needsChat)
    return { field: 'chat_id', problem: `must be given with the format ${withChat} only` }
  }
  if (pathEnd !== null && !pathEnd.pattern.test(new URL(url).pathname))
    return { field: 'url', problem: `must end in ${pathEnd.text} with the format ${format}` }
  return null
}
