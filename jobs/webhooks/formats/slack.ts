import { fitted, fittedLines } from './text.js'
import type { Told } from './told.js'

/** Slack: most characters of a header, of a section's text and of the text beside blocks. */
const MOST = { header: 150, section: 3000, text: 3000 }

/** Slack replaces these three in its markup; mentions, links and channels begin with `<`. */
const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const linkTo = (url: string): string =>
  `<${escapeMarkup(url.replaceAll(/[|<>]/g, encodeURIComponent))}|Open in Plumbline>`

/** Blocks of plain text, in which Slack reads no markup; only the link is markup, and consists of our own words. */
export const slackBody = ({ title, why, path }: Told, url: string | null): string =>
  JSON.stringify({
    text: fitted(typeof why === 'string' ? `${title}. ${why}` : title, MOST.text, escapeMarkup),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: fitted(title, MOST.header), emoji: false } },
      { type: 'section', text: { type: 'plain_text', text: fittedLines(why, MOST.section), emoji: false } },
      url === null
        ? { type: 'section', text: { type: 'plain_text', text: path, emoji: false } }
        : { type: 'section', text: { type: 'mrkdwn', text: linkTo(url), verbatim: true } },
    ],
  })
