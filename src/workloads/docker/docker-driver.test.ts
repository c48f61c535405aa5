// The driver of engines counts the copies of its engine beside the images of the node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageBeyondQuota } from '#images/quota-fault.ts'
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

test('the refusal of an image that counts twice says so, before its fetch and behind it', async () => {
  const rooms: number[] = []
  const images = {
    async pull({ image, roomBytes }: { readonly image: string; readonly roomBytes: number }) {
      rooms.push(roomBytes)
      throw imageBeyondQuota(image, { roomBytes })
    },
  }
  const driver = createDockerDriver({ images, opened: {}, installation: 'x' } as never)
  const roomBytes = 600_000_000
  const wanted = { id: 'wl_a', account: 'acct_a', version: 1, image: 'one', roomBytes }
  await assert.rejects(
    driver.pull(wanted, () => undefined, signal),
    {
      code: 'image_quota_exceeded',
      message:
        'Could not keep the image "one": the images of the account may have 600 MB more, and the engine\'s copy of an image counts too',
    },
  )
  assert.deepEqual(rooms, [300_000_000])
  assert.match(
    imageBeyondQuota('one', { roomBytes, bytes: 1_201_000_001, copies: 2 }).message,
    /"one": it takes 1202 MB with the engine's copy of it, and the images .* have 600 MB more$/,
  )
})
