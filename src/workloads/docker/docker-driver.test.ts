// The driver of engines counts the copies of its engine beside the images of the node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldImage, signal } from '#workloads/workloads.fixture.ts'
import { createDockerDriver } from './docker-driver.ts'

test('an image counts twice where an engine has a copy of it', async () => {
  let isHeld = true
  const images = {
    pull: async () => ({ ...heldImage({ bytes: 300 }), [Symbol.dispose]: () => (isHeld = false) }),
    bytesOf: async () => 300,
  }
  const driver = createDockerDriver({ images, opened: {}, installation: 'x' } as never)
  const wanted = { id: 'wl_a', account: 'acct_a', version: 1, image: 'one', roomBytes: 1000 }
  {
    using image = await driver.pull(wanted, () => undefined, signal)
    assert.deepEqual([image.bytes, isHeld], [600, true])
  }
  assert.equal(isHeld, false)
  assert.equal(await driver.bytesOf({ image: 'one', digest: 'sha256:0' }, signal), 600)
})
