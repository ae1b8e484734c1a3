import { spawnSync } from 'node:child_process'
import { expect } from 'vitest'

export type Xml = { tag: string; text: string; attributes: Record<string, string>; children: Xml[] }

const SCRIPT = `
import json, sys, xml.etree.ElementTree as E
def tree(e): return {"tag": e.tag.split("}")[-1], "text": e.text or "", "attributes": dict(e.attrib), "children": [tree(c) for c in e]}
print(json.dumps(tree(E.fromstring(sys.stdin.buffer.read().decode()))))`

/** An XML document as an independent parser reads it; fails if that refuses it. */
export function parsedXml(xml: string): Xml {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', SCRIPT], { input: xml })
  expect([status, `${stderr}`]).toEqual([0, ''])
  return JSON.parse(`${stdout}`)
}

/** The texts of a document, in order. */
export const textsOf = ({ text, children }: Xml): string[] => [text, ...children.flatMap(textsOf)]
export const childrenOf = (xml: Xml, tag: string): Xml[] => xml.children.filter((child) => child.tag === tag)
export const textOf = (xml: Xml, tag: string): string => childrenOf(xml, tag)[0]?.text ?? ''
