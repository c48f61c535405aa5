import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkedContentType, contentTypeOf } from './content-type.ts'

test('contentTypeOf() goes by the ending alone', () => {
  const types: Record<string, string | undefined> = {
    'site/index.html': 'text/html',
    'STYLE.CSS': 'text/css',
    'a.b/module.mjs': 'text/javascript',
    'photo.jpg': 'image/jpeg',
    'work.tar.gz': 'application/gzip',
    'page.html/README': undefined,
    html: undefined,
    '.html': undefined,
    'data.unheard-of': undefined,
    '': undefined,
  }
  for (const [name, type] of Object.entries(types)) assert.equal(contentTypeOf(name), type, name)
})

test('checkedContentType() takes a type with parameters, and nothing that is no header', () => {
  for (const type of ['text/html', 'text/html; charset="utf-8"', 'application/ld+json'])
    assert.equal(checkedContentType(type), type)
  for (const text of ['', 'text', 'text/', '/html', 'text/html\r\nx: y', 'text/ü', 'text/html;ü'])
    assert.throws(() => checkedContentType(text), /Not a content type/, text)
})
