import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageFolderOf, imageWordOf } from './image-place.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

test('each repository has a folder of its own, whatever its digests are', () => {
  const folderOf = (image: string) => imageFolderOf('/images', image)
  const alices = folderOf('registry.example/alice/app:1')
  assert.equal(folderOf(`registry.example/alice/app@${DIGEST}`), alices)
  assert.equal(folderOf('index.docker.io/library/api:1'), folderOf('api:2'))
  for (const other of [
    'registry.example/bob/app',
    'other.example/alice/app',
    'alice/app',
    'oci:/alice/app',
  ])
    assert.notEqual(folderOf(other), alices, other)
  const words = ['alice', 'bob'].map((owner) =>
    imageWordOf({ image: `registry.example/${owner}/app`, digest: DIGEST }),
  )
  assert.notEqual(words[0], words[1])
})
