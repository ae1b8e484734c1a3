import type { Level } from '../../../clickhouse/events/levels.js'
import { FORMATS } from '../../../clickhouse/webhooks/formats.js'
import type { Message } from '../messages/message.js'
import { fitted, fittedLines } from '../messages/text.js'
import { messageWriter } from './writer.js'

/** Discord: most characters of the content, and of an embed’s title and description. */
const MOST_CONTENT = 2000
const MOST_TITLE = 256
const MOST_DESCRIPTION = FORMATS.discord.mostText

const COLORS: Record<Level, number> = { info: 0x3b82f6, warning: 0xf59e0b, critical: 0xdc2626 }

/** A backslash before every character with which markup, a mention or a link of Discord begins. */
const escapeMarkdown = (text: string): string => text.replaceAll(/[\\*_~`|<>#[\]()@]/g, '\\$&')

const descriptionOf = (why: Message['why'], link: string): string =>
  fittedLines(why, MOST_DESCRIPTION - link.length, escapeMarkdown) + link

/** An embed, and its title as the content, which is what a notification shows. Nobody is mentioned, whatever the text says. */
export const discord = messageWriter(({ level, title, why, path }, { url, at }) =>
  JSON.stringify({
    content: fitted(title, MOST_CONTENT, escapeMarkdown),
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: fitted(title, MOST_TITLE, escapeMarkdown),
        description: descriptionOf(why, url === null ? `\n${escapeMarkdown(path)}` : ''),
        ...(url !== null && { url }),
        color: COLORS[level],
        timestamp: at.toISOString(),
      },
    ],
  }),
)
