// Keys of instances are written and read in one file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instanceOfKey, keyOfInstance, keysOfVersion } from './versioned.ts'

test('instanceOfKey() reads the number that keyOfInstance() has written', () => {
  for (const instance of [1, 10, 99])
    assert.equal(instanceOfKey(keyOfInstance({ id: 'wl_a', version: 3, instance })), instance)
})

test('keysOfVersion() begins the keys of its version, and no key of a version with a longer number', () => {
  const key = (version: number) => keyOfInstance({ id: 'wl_a', version, instance: 12 })
  const own = keysOfVersion({ id: 'wl_a', version: 1 })
  assert.deepEqual(
    [1, 11, 12].map((version) => key(version).startsWith(own)),
    [true, false, false],
  )
})
