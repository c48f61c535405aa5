// Keys and prefixes as steps of a path.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hasAddress, pathOf } from '../../client/s3.ts'
import { lastPart, shown, stepsOf } from './place.ts'

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
})
