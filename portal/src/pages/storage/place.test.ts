// Keys and prefixes as steps of a path.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hasAddress, pathOf } from '#console/client/s3.ts'
import { addressOf, lastPart, placeAt, shown, stepsOf } from './place.ts'

suite('a place in the storage', () => {
  test('a prefix is a step for each slash, empty parts too', () => {
    assert.deepEqual(stepsOf('2026//11/'), [
      { name: '2026', to: '2026/' },
      { name: '', to: '2026//' },
      { name: '11', to: '2026//11/' },
    ])
    assert.deepEqual(stepsOf(''), [])
  })

  test('the last part of a key, and of a prefix', () => {
    assert.equal(lastPart('2026/11/data.json'), 'data.json')
    assert.equal(lastPart('2026/11/'), '11/')
  })

  test('signs that turn the direction of text are shown as escapes', () => {
    assert.equal(lastPart('a/invoice\u202Efdp.exe'), 'invoice\\u202efdp.exe')
    assert.equal(shown('a\u2066/b\u2069'), 'a\\u2066/b\\u2069')
    assert.equal(shown('חשבונית.pdf'), 'חשבונית.pdf')
  })

  test('a key is quoted part by part', () => {
    assert.equal(pathOf({ bucket: 'b', key: 'a b/<x>?#%' }), '/s3/b/a%20b/%3Cx%3E%3F%23%25')
  })

  test('keys that a browser would change have no address', () => {
    for (const key of ['..', 'a/../b', './a', 'a/.']) assert.equal(hasAddress(key), false, key)
    for (const key of ['a', '..a', 'a/...', '.hidden']) assert.equal(hasAddress(key), true, key)
  })

  test('each place has one address, which leads back to it', () => {
    const keys = ['a', 'a/b.png', '100%/x?y#z', 'a//b', '/a', '../a', 'a/.', 'a/', 'a/b/', '//']
    const places = [
      { bucket: 'my.bucket', prefix: '', object: undefined },
      ...['a/', 'a b/c/', '/', 'a//', '../'].map((prefix) => ({
        bucket: 'b',
        prefix,
        object: undefined,
      })),
      ...keys.map((object) => ({
        bucket: 'b',
        prefix: object.replace(/[^/]+\/?$|\/$/, ''),
        object,
      })),
    ]
    for (const place of places) {
      const address = addressOf(place)
      assert.deepEqual(placeAt(address), place, JSON.stringify(address))
      assert.doesNotMatch(`/${address.path}`, /\/\.\.?(\/|$)|\/\//, 'a browser would change it')
    }
    assert.deepEqual(placeAt(addressOf({})), {})
    assert.equal(addressOf({ bucket: 'b', prefix: 'a/', object: 'a/b.png' }).path, 'b/a/b.png')
  })
})

test('an address whose first part is no bucket is no place', () => {
  for (const path of ['../v1/databases/victim', '..', './x', 'a..b/x', 'v1?x/y', 'B b/x'])
    assert.deepEqual(placeAt({ path, query: {} }), {}, path)
})
