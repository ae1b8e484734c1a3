import { FORMATS } from '../../../clickhouse/webhooks/formats.js'
import { fitted, fittedLines } from '../messages/text.js'
import { messageWriter } from './writer.js'

/** Slack: most characters of a header; of a section's text and of the text beside blocks. */
const MOST_HEADER = 150
const MOST_TEXT = FORMATS.slack.mostText

/** Slack replaces these three in its markup; mentions, links and channels begin with `<`. */
const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const linkTo = (url: string): string =>
  `<${escapeMarkup(url.replaceAll(/[|<>]/g, encodeURIComponent))}|Open in Plumbline>`

/** Blocks of plain text, in which Slack reads no markup; only the link is markup, and consists of our own words. */
export const slack = messageWriter(({ title, why, path }, { url }) =>
  JSON.stringify({
    text: fitted(typeof why === 'string' ? `${title}. ${why}` : title, MOST_TEXT, escapeMarkup),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: fitted(title, MOST_HEADER), emoji: false } },
      { type: 'section', text: { type: 'plain_text', text: fittedLines(why, MOST_TEXT), emoji: false } },
      url === null
        ? { type: 'section', text: { type: 'plain_text', text: path, emoji: false } }
        : { type: 'section', text: { type: 'mrkdwn', text: linkTo(url), verbatim: true } },
    ],
  }),
)
