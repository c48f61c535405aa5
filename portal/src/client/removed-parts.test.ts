// The parts of an upload cost as stored bytes: what ends the upload, or takes its name, removes them.
import assert from 'node:assert/strict'
import { beforeEach, test, type TestContext } from 'node:test'
import { begunUploads, markOf } from './begun-uploads.ts'
import { discardOf } from './multipart.ts'
import { upload } from './upload.ts'
import { setLocalStorage } from './storage.fixture.ts'

setLocalStorage()

const PLACE = { bucket: 'b', key: 'film.mp4' }
const ELSEWHERE = { bucket: 'b', key: 'other.mp4' }
const OPTIONS = {
  replaces: true,
  signal: new AbortController().signal,
  onProgress: () => undefined,
}

beforeEach(async () => {
  const mark = await markOf(new File(['large'], 'film.mp4'))
  for (const place of [PLACE, ELSEWHERE])
    begunUploads.keep({ ...place, ...mark, uploadId: `u of ${place.key}` })
})

/** The storage: the requests that it had, in order; a PUT is answered with that status, a DELETE with that one. */
function storage(t: TestContext, statuses: { readonly put?: number; readonly remove?: number }) {
  const asked: string[] = []
  t.mock.method(globalThis, 'fetch', async (path: string, { method }: RequestInit) => {
    asked.push(`${method} ${path}`)
    return new Response(null, { status: statuses.remove ?? 204 })
  })
  class Put extends EventTarget {
    readonly upload = new EventTarget()
    readonly status = statuses.put ?? 200
    readonly responseText = ''
    open(method: string, path: string) {
      asked.push(`${method} ${path}`)
    }
    setRequestHeader() {}
    getResponseHeader = () => '"etag"'
    send() {
      for (const name of ['load', 'loadend']) this.dispatchEvent(new Event(name))
    }
  }
  Object.defineProperty(globalThis, 'XMLHttpRequest', { value: Put, configurable: true })
  return asked
}

const REMOVED = 'DELETE /s3/b/film.mp4?uploadId=u+of+film.mp4'
const PUT = 'PUT /s3/b/film.mp4'
const begun = () => begunUploads.in('b').map(({ key }) => key)

test('a stopped upload removes its parts without its file, which may have changed or be gone', async (t) => {
  const asked = storage(t, {})
  await discardOf(PLACE)
  assert.deepEqual([asked, begun()], [[REMOVED], [ELSEWHERE.key]])
  await discardOf(PLACE)
  assert.equal(asked.length, 1, 'nothing is left to remove')
})

test('a small file removes the parts that another file of its name has begun', async (t) => {
  const asked = storage(t, {})
  await upload(PLACE, new File(['small'], 'film.mp4'), OPTIONS)
  assert.deepEqual([asked, begun()], [[PUT, REMOVED], [ELSEWHERE.key]])
})

test('a small file that is refused leaves the parts of the other file', async (t) => {
  const asked = storage(t, { put: 412 })
  await assert.rejects(upload(PLACE, new File(['small'], 'film.mp4'), OPTIONS))
  assert.deepEqual([asked, begun()], [[PUT], [PLACE.key, ELSEWHERE.key]])
})

test('a small file is stored also where the parts of the other file cannot be removed now', async (t) => {
  storage(t, { remove: 503 })
  await upload(PLACE, new File(['small'], 'film.mp4'), OPTIONS)
  assert.deepEqual(begun(), [PLACE.key, ELSEWHERE.key], 'the page still offers to discard them')
})
