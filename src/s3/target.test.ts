import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTarget } from './target.fixture.ts'

const BASES = { api: ['localhost', '127.0.0.1', '[::1]'], website: ['web.localhost'] }
const at = (target: string, host = 'localhost:8080') => parseTarget(target, host, BASES)

test('parseTarget() keeps keys as they were meant', () => {
  const keys: [raw: string, key: string][] = [
    ['/b/../x', '../x'],
    ['/b/%2e%2E/x', '../x'],
    ['/b//a//', '/a//'],
    ['/b/a%2Fb', 'a/b'],
    ['/b/a%252Fb', 'a%2Fb'],
    ['/b/a+b', 'a+b'],
    ['/b/%F0%9F%98%80', '😀'],
    ['/b/\xf0\x9f\x98\x80', '😀'],
    ['/b/a%00'.replace('%00', '%01'), 'a\u0001'],
    ['/b/dir/', 'dir/'],
  ]
  for (const [raw, key] of keys) assert.equal(at(raw).key, key, raw)
})

test('parseTarget() tells service, bucket and key apart', () => {
  assert.equal(at('/').bucket, undefined)
  assert.deepEqual([at('/b').bucket, at('/b').key], ['b', undefined])
  assert.deepEqual([at('/b/').bucket, at('/b/').key], ['b', undefined])
  assert.equal(at('//k').bucket, '')
})

test('parseTarget() reads the bucket from a virtual host', () => {
  const virtual = at('/a/b?acl', 'My.Photos.localhost:8080')
  assert.deepEqual([virtual.form, virtual.bucket, virtual.key], ['host', 'my.photos', 'a/b'])
  assert.deepEqual(at('/x', 'site.web.localhost').form, 'website')
  for (const host of ['localhost', '127.0.0.1:1', '[::1]:8080'])
    assert.equal(at('/b/k', host).bucket, 'b')
})

test('parseTarget() decodes parameters, the first of a name counting', () => {
  const { query, rawQuery } = at('/b?prefix=a%2Fb+c&acl&prefix=z&=x&')
  assert.deepEqual(
    [...query],
    [
      ['prefix', 'a/b c'],
      ['acl', ''],
      ['', 'x'],
    ],
  )
  assert.equal(rawQuery, 'prefix=a%2Fb+c&acl&prefix=z&=x&')
})

test('parseTarget() refuses what cannot be a key', () => {
  const code = (target: string, expected: string) =>
    assert.throws(() => at(target), { code: expected }, target)
  code('*', 'InvalidURI')
  code('http://localhost/b/k', 'InvalidURI')
  code('/b/%', 'InvalidURI')
  code('/b/%zz', 'InvalidURI')
  code('/b/%ff', 'InvalidURI')
  code('/b/%c0%ae', 'InvalidURI')
  code('/b/\xff', 'InvalidURI')
  code('/b/%ED%A0%80', 'InvalidURI')
  code('/b/a%00b', 'InvalidArgument')
  code(`/b/${'é'.repeat(512).replaceAll('é', '%C3%A9')}x`, 'KeyTooLongError')
  code(`/b?${'a&'.repeat(300)}`, 'InvalidURI')
  assert.equal(at(`/b/${'%C3%A9'.repeat(512)}`).key?.length, 512)
})

test('parseTarget() gives back any key that was encoded', () => {
  const key = fc
    .string({ minLength: 1, maxLength: 80, unit: 'grapheme' })
    .filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(key, (text) => {
      const { key: found } = at(`/b/${encodeURIComponent(text)}`)
      assert.equal(found, text)
    }),
  )
})
