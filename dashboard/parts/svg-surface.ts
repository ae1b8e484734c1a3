import type { Palette, Rects, Surface } from './surface.js'

/** XML 1.0 does not allow the characters that are replaced first. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

const short = (value: number | undefined): string => String(Math.round((value ?? 0) * 100) / 100)

const opacityOf = (opacity: number): string => (opacity < 1 ? ` fill-opacity="${opacity}"` : '')

function pathOf(rects: Rects): string {
  let path = ''
  for (let i = 0; i < rects.length; i += 4) {
    const [x, y, width, height] = rects.slice(i, i + 4)
    path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-(width ?? 0))}z`
  }
  return path
}

/** Paints into the text of an SVG document. */
export function svgSurface(width: number, height: number, palette: Palette) {
  const parts: string[] = []
  const add = (part: string): void => void parts.push(part)
  const surface: Surface = {
    rects: (rects, colour, opacity = 1) => {
      if (rects.length > 0) add(`<path d="${pathOf(rects)}" fill="${palette[colour]}"${opacityOf(opacity)}/>`)
    },
    pattern: (rects, kind) => {
      if (rects.length > 0) add(`<path d="${pathOf(rects)}" fill="url(#${kind})"/>`)
    },
    line: (x1, y1, x2, y2, colour, thickness) =>
      add(
        `<path d="M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}" stroke="${palette[colour]}" stroke-width="${thickness}"/>`,
      ),
    path: (points, colour, thickness) =>
      add(
        `<polyline points="${points.map(short).join(' ')}" fill="none" stroke="${palette[colour]}" stroke-width="${thickness}" stroke-linejoin="round"/>`,
      ),
    shape: (points, colour, { outline, opacity = 1 } = {}) => {
      const list = points.map(short).join(' ')
      const stroke = outline ? ` stroke="${palette[outline]}"` : ''
      add(`<polygon points="${list}" fill="${palette[colour]}"${opacityOf(opacity)}${stroke}/>`)
    },
    text: (text, x, y, { colour, size, align = 'start', isBold = false, isTurned = false }) => {
      const place = isTurned
        ? `transform="translate(${short(x)} ${short(y)}) rotate(-90)"`
        : `x="${short(x)}" y="${short(y)}"`
      add(
        `<text ${place} fill="${palette[colour]}" font-size="${size}" text-anchor="${align}" font-weight="${isBold ? 600 : 400}">${escaped(text)}</text>`,
      )
    },
  }
  const document = (title: string): string =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif"><title>${escaped(title)}</title><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 7L7 -1" stroke="${palette.hatch}"/></pattern><pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M2.5 2.5h1v1h-1z" fill="${palette.hatch}"/></pattern></defs><rect width="100%" height="100%" fill="${palette.paper}"/>${parts.join('')}</svg>\n`
  return { surface, document }
}
