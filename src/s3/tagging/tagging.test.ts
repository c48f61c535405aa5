import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErgonError } from '#base/errors.ts'
import { parseTagging, parseTaggingHeader, printTagging } from './tagging.ts'
import type { Tags } from '#objects/types.ts'

const letter = fc.constantFrom(...'abzÄ漢 0.:/=+-@_'.split(''))
const names = fc
  .string({ unit: letter, minLength: 1, maxLength: 128 })
  .filter((name) => !name.startsWith('aws:'))
const values = fc.string({ unit: letter, maxLength: 256 })
const tagSets = fc.dictionary(names, values, { maxKeys: 10, noNullPrototype: true })
const refused = (code: string) => (error: ErgonError) => error.code === code && error.status === 400

test('tags survive XML and the header', () => {
  fc.assert(
    fc.property(tagSets, (tags) => {
      assert.deepEqual(parseTagging(Buffer.from(printTagging(tags)), 'object'), tags)
      const header = Object.entries(tags)
        .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
        .join('&')
      assert.deepEqual(parseTaggingHeader(header), tags)
    }),
    { numRuns: 50 },
  )
})

test('printTagging() writes tags in the order of their names', () => {
  const xml = printTagging(parseTaggingHeader('foo=bar&bar&a+b=%2B'))
  assert.match(xml, /<Key>a b<\/Key><Value>\+<.*<Key>bar<\/Key><Value><.*<Key>foo<.Key><Value>bar</)
})

test('tags have limits, and each name is there once', () => {
  const many = (count: number): Tags =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']))
  assert.equal(Object.keys(parseTagging(Buffer.from(printTagging(many(50))), 'bucket')).length, 50)
  const bad: [xml: string, of: 'object' | 'bucket'][] = [
    [printTagging({ ['k'.repeat(129)]: '' }), 'object'],
    [printTagging({ k: 'v'.repeat(257) }), 'object'],
    [printTagging({ '': 'v' }), 'object'],
    [printTagging({ 'k\n': 'v' }), 'object'],
    [printTagging({ 'aws:k': 'v' }), 'object'],
    [printTagging({ k: 'v' }).replace(/(<Tag>.*<\/Tag>)/, '$1$1'), 'object'],
  ]
  for (const [xml, of] of bad)
    assert.throws(() => parseTagging(Buffer.from(xml), of), refused('InvalidTag'))
  const tooMany = refused('BadRequest')
  assert.throws(() => parseTagging(Buffer.from(printTagging(many(11))), 'object'), tooMany)
  assert.throws(() => parseTagging(Buffer.from(printTagging(many(51))), 'bucket'), tooMany)
  assert.throws(() => parseTaggingHeader('a=1&a=2'), refused('InvalidArgument'))
  assert.throws(() => parseTaggingHeader('a=%'), refused('InvalidArgument'))
  for (const xml of ['<Tagging/>', '<Tagging><TagSet><Tag><Key>k</Key></Tag></TagSet></Tagging>'])
    assert.throws(() => parseTagging(Buffer.from(xml), 'object'), refused('MalformedXML'))
})
