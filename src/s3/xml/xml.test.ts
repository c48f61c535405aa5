import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { xmlBoolean, xmlFields, integerOf, xmlText, timeOf, wordOf } from './fields.ts'
import { parseXml, XML_BYTES_MAX, type XmlElement } from './read.ts'
import { isoTime, urlEncoded, writePlainXml, writeXml, type XmlNode } from './write.ts'

const read = (text: string, root = 'A') => parseXml(Buffer.from(text), root)
const refused = (text: string, code = 'MalformedXML') =>
  assert.throws(() => read(text), { code }, text.slice(0, 60))

test('parseXml() gives back any text that writeXml() wrote', () => {
  const text = fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .filter((value) => !value.includes('\0') && value.isWellFormed())
  fc.assert(
    fc.property(text, (value) => {
      const { children } = read(
        writeXml('A', [
          ['B', value],
          ['C', 'x'],
        ]),
      )
      assert.equal(children[0]?.text, value)
    }),
  )
})

test('parseXml() reads namespaces, CDATA, references and spaces', () => {
  const root = read(
    '<?xml version="1.0"?>\n<x:A xmlns:x="urn:x" xmlns:xsi="urn:i">\n <B xsi:type="T"> a&amp;&#x41;&#66; </B>\n<C><![CDATA[<&amp;>]]></C><!-- no --><D/></x:A>\n',
  )
  assert.deepEqual(
    root.children.map(({ name, text }) => [name, text]),
    [
      ['B', ' a&AB '],
      ['C', '<&amp;>'],
      ['D', ''],
    ],
  )
  assert.equal(root.children[0]?.attributes['type'], 'T')
})

test('parseXml() agrees with another parser about any tree', () => {
  const oracle = new XMLParser({ preserveOrder: true, parseTagValue: false, trimValues: false })
  type Node = Record<string, unknown>
  const plain = (nodes: Node[]): unknown =>
    nodes.map((node) => {
      const [name = ''] = Object.keys(node)
      return name === '#text' ? node[name] : [name, plain(node[name] as Node[])]
    })
  const ours = ({ name, text, children }: XmlElement): unknown => [
    name,
    children.length > 0 ? children.map(ours) : text === '' ? [] : [text],
  ]
  const { tree } = fc.letrec((tie) => ({
    tree: fc.tuple(
      fc.stringMatching(/^[A-Z][a-z]{0,5}$/),
      fc.oneof(
        { maxDepth: 4 },
        fc.stringMatching(/^[ -~]{0,8}$/),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    ),
  }))
  fc.assert(
    fc.property(tree, (root) => {
      const text = writePlainXml('A', [root as XmlNode])
      const [, expected] = plain(oracle.parse(text) as Node[]) as [unknown, unknown]
      assert.deepEqual(ours(read(text)), expected)
    }),
    { numRuns: 60 },
  )
})

test('parseXml() refuses bombs, entities and what is not well formed', () => {
  refused('')
  refused('<A>')
  refused('<A></B>')
  refused('<A><B></A></B>')
  refused('<A/><A/>')
  refused('<B/>')
  refused('text')
  refused('<A>\u0000</A')
  refused('<!DOCTYPE A [<!ENTITY a "b">]><A>&a;</A>')
  refused('<!doctype A><A/>')
  refused('<A>&a;</A>')
  refused('<A>a & b</A>')
  refused('<A b="1" b="2"/>')
  refused('<A b=1/>')
  refused('<A b/>')
  refused('<A><B attr="<"/></A>')
  refused('<A>x</A>y')
  refused('<![CDATA[x]]><A/>')
  refused('<A><!-- </A>')
  refused('<A><![CDATA[ </A>')
  refused('</A>')
  refused('<A/></A>')
  refused('< A/>')
  refused('<A>&#0;</A>')
  refused('<A>&#x110000;</A>')
  refused('<A>&#xd800;</A>')
  refused(`${'<A>'.repeat(200)}${'</A>'.repeat(200)}`)
  refused(`<A>${'<B/>'.repeat(150_000)}</A>`)
  refused(`<A>${' '.repeat(XML_BYTES_MAX)}</A>`, 'MaxMessageLengthExceeded')
  assert.throws(() => parseXml(Buffer.from([60, 65, 62, 255, 60, 47, 65, 62]), 'A'), {
    code: 'MalformedXML',
  })
})

test('fieldsOf() refuses what its schema does not say', () => {
  const schema = { B: 'one', C: 'optional', D: 'many' } as const
  const { B, C, D } = xmlFields(read('<A><D/><B>x</B><D/></A>'), schema)
  assert.deepEqual([xmlText(B), C, D.length], ['x', undefined, 2])
  for (const text of [
    '<A/>',
    '<A><B/><B/></A>',
    '<A><B/><C/><C/></A>',
    '<A><B/><E/></A>',
    '<A><B/>text</A>',
    '<A>text</A>',
  ])
    assert.throws(() => xmlFields(read(text), schema), { code: 'MalformedXML' }, text)
})

test('leaves are words, booleans, numbers or times', () => {
  const leaf = (text: string) => read(`<A>${text}</A>`)
  const bad = { code: 'MalformedXML' }
  assert.equal(wordOf(leaf('On'), ['On', 'Off']), 'On')
  assert.throws(() => wordOf(leaf('on'), ['On', 'Off']), bad)
  assert.deepEqual([xmlBoolean(leaf('TRUE')), xmlBoolean(leaf('false'))], [true, false])
  assert.throws(() => xmlBoolean(leaf('1')), bad)
  assert.equal(integerOf(leaf('12'), 1, 12), 12)
  for (const text of ['', '0', '13', '1.5', '1e1', 'x'])
    assert.throws(() => integerOf(leaf(text), 1, 12), bad)
  assert.equal(timeOf(leaf('2026-11-21T00:00:00Z')), Date.UTC(2026, 10, 21))
  assert.throws(() => timeOf(leaf('tomorrow')), bad)
  assert.throws(() => xmlText(leaf('<B/>')), bad)
})

test('writeXml() escapes, leaves out undefined and nests', () => {
  assert.equal(
    writePlainXml('A', [
      ['B', '<&>"\'\r\u0001'],
      ['C', undefined],
      [
        'D',
        [
          ['E', 1],
          ['F', true],
        ],
      ],
      ['G', ''],
    ]),
    '<?xml version="1.0" encoding="UTF-8"?>\n<A><B>&lt;&amp;&gt;&quot;&apos;&#xd;&#x1;</B><D><E>1</E><F>true</F></D><G></G></A>',
  )
})

test('urlEncoded() leaves slashes', () => {
  assert.equal(urlEncoded('a/b c+(é)*'), 'a/b%20c%2B%28%C3%A9%29*')
})

test('isoTime() prints a time as Date does', () => {
  const time = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 })
  const near = fc.tuple(time, fc.integer({ min: -1500, max: 1500 }))
  fc.assert(
    fc.property(near, ([at, later]) => {
      for (const ms of [at, at + later]) assert.equal(isoTime(ms), new Date(ms).toISOString())
    }),
  )
  assert.throws(() => isoTime(Number.NaN), RangeError)
})
