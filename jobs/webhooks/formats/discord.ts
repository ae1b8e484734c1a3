import type { Level } from '../../../clickhouse/events/levels.js'
import { fitted, fittedLines } from './text.js'
import type { Told } from './told.js'

/** Discord: most characters of the content, and of an embed’s title and description. */
const MOST = { content: 2000, title: 256, description: 4096 }

const COLORS: Record<Level, number> = { info: 0x3b82f6, warning: 0xf59e0b, critical: 0xdc2626 }

/** A backslash before every character with which markup, a mention or a link of Discord begins. */
const escapeMarkdown = (text: string): string => text.replaceAll(/[\\*_~`|<>#[\]()@]/g, '\\$&')

const descriptionOf = (why: Told['why'], link: string): string =>
  fittedLines(why, MOST.description - link.length, escapeMarkdown) + link

/** An embed, and its title as the content, which is what a notification shows. Nobody is mentioned, whatever the text says. */
export const discordBody = ({ level, title, why, path }: Told, url: string | null, at: Date): string =>
  JSON.stringify({
    content: fitted(title, MOST.content, escapeMarkdown),
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: fitted(title, MOST.title, escapeMarkdown),
        description: descriptionOf(why, url === null ? `\n${escapeMarkdown(path)}` : ''),
        ...(url !== null && { url }),
        color: COLORS[level],
        timestamp: at.toISOString(),
      },
    ],
  })
