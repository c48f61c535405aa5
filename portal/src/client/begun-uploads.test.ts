// The file of an upload that goes on is the file that began it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begunUploads, markOf } from './begun-uploads.ts'
import { setLocalStorage } from './storage.fixture.ts'

setLocalStorage()

const PLACE = { bucket: 'films', key: 'film.mp4' }
const BYTES = 300_000
const fileOf = (change: { at?: number; bytes?: number; lastModified?: number } = {}) => {
  const { at, bytes = BYTES, lastModified = 1000 } = change
  const content = Buffer.alloc(bytes, 'a')
  if (at !== undefined) content[at] = 0
  return new File([content], 'film.mp4', { lastModified })
}

test('an upload goes on with its own file, and with no other of the same name', async () => {
  begunUploads.keep({ ...PLACE, uploadId: 'u', ...(await markOf(fileOf())) })
  const found = async (file: File) => begunUploads.find(PLACE, await markOf(file))?.uploadId
  assert.equal(await found(fileOf()), 'u')
  assert.equal(begunUploads.at(PLACE)?.uploadId, 'u')
  for (const change of [
    { at: 0 },
    { at: 65_535 },
    { at: BYTES - 1 },
    { bytes: BYTES + 1 },
    { lastModified: 2000 },
  ])
    assert.equal(await found(fileOf(change)), undefined, JSON.stringify(change))
  assert.equal(begunUploads.find({ ...PLACE, key: 'k' }, await markOf(fileOf())), undefined)
})

test('a small file has a mark of all its bytes', async () => {
  const marks = await Promise.all(['', 'a', 'b'].map((text) => markOf(new File([text], 'x'))))
  assert.equal(new Set(marks.map(({ edges }) => edges)).size, 3)
})
