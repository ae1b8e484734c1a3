import { expect } from 'vitest'
import type { MessageFormat } from '../../../../../clickhouse/webhooks/formats.js'
import { discord } from '../../../../../jobs/webhooks/formats/discord.js'
import { slack } from '../../../../../jobs/webhooks/formats/slack.js'
import { telegram } from '../../../../../jobs/webhooks/formats/telegram.js'
import type { MessageWriter } from '../../../../../jobs/webhooks/formats/writer.js'

// biome-ignore lint/suspicious/noExplicitAny: each service has other fields
type Body = any

type MessageShape = {
  writer: MessageWriter
  /** The text of a body that has the limit of the format. */
  longest: (body: Body) => string
  /** Every text of a body, with the most characters that the service takes. */
  texts: (body: Body) => [text: string, most: number][]
  /** Fails if anything but the link to `https://plumbline.example/` is markup, a mention or a link for the service. */
  expectNoMarkup: (body: Body) => void
  /** The texts in which characters are escaped. */
  escaped: (body: Body) => string[]
  /** What such a text matches if it was cut inside an escaped character. */
  cutInside: RegExp
}

/** What tests know of the messages of each service. */
export const messageShapes: Record<MessageFormat, MessageShape> = {
  slack: {
    writer: slack,
    longest: ({ blocks }) => blocks[1].text.text,
    texts: ({ text, blocks }) => [
      [text, 3000],
      [blocks[0].text.text, 150],
      [blocks[1].text.text, 3000],
    ],
    expectNoMarkup: ({ text, blocks }) => {
      const link = /<https:\/\/plumbline\.example\/[\w/?=:-]*\|Open in Plumbline>/
      const last = blocks[2].text
      expect(last.text.replace(link, '')).toBe(last.type === 'mrkdwn' ? '' : last.text)
      // In markup, nothing of ours has these characters; plain text has no markup.
      expect(text).not.toMatch(/[<>]/)
      for (const block of blocks.slice(0, 2)) expect(block.text).toMatchObject({ type: 'plain_text', emoji: false })
    },
    escaped: ({ text }) => [text],
    cutInside: /&(?!amp;|lt;|gt;|quot;)/,
  },
  discord: {
    writer: discord,
    longest: ({ embeds }) => embeds[0].description,
    texts: ({ content, embeds: [{ title, description }] }) => [
      [content, 2000],
      [title, 256],
      [description, 4096],
      [title + description, 6000],
    ],
    expectNoMarkup: ({ content, allowed_mentions, embeds: [{ title, description }] }) => {
      expect(allowed_mentions).toEqual({ parse: [] })
      for (const text of [content, title, description])
        expect(text.replaceAll(/\\[\\*_~`|<>#[\]()@]/g, '')).not.toMatch(/[\\*_~`|<>#[\]@]/)
    },
    escaped: ({ content, embeds: [{ title, description }] }) => [content, title, description],
    cutInside: /(^|[^\\])(\\\\)*\\…$/,
  },
  telegram: {
    writer: telegram,
    longest: ({ text }) => text,
    texts: ({ text }) => [[text, 4096]],
    expectNoMarkup: ({ text, parse_mode }) => {
      expect(parse_mode).toBe('HTML')
      const without = text
        .replace(/^<b>([^<>]*)<\/b>\n/, '$1')
        .replace(/\n<a href="https:\/\/plumbline\.example\/[\w/?=:-]*">Open in Plumbline<\/a>$/, '')
      expect(without).not.toMatch(/[<>"]|&(?!amp;|lt;|gt;|quot;)/)
    },
    escaped: ({ text }) => [text],
    cutInside: /&(?!amp;|lt;|gt;|quot;)/,
  },
}

export const MESSAGE_FORMATS = Object.keys(messageShapes) as MessageFormat[]
