// Which file goes on with the parts of an upload that was begun.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begunUploads } from './begun-uploads.ts'

const kept = new Map<string, string>()
Object.defineProperty(globalThis, 'localStorage', {
  configurable: true,
  value: {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => kept.set(name, text),
    removeItem: (name: string) => kept.delete(name),
  },
})

test('begunUploads.find() gives the parts to the same file at the same place alone', () => {
  const place = { bucket: 'photos', key: 'cat.mov' }
  const file = (text: string, lastModified: number) => new File([text], 'cat.mov', { lastModified })
  const begun = { ...place, uploadId: 'u', bytes: 4, changedMs: 1 }
  begunUploads.keep(begun)
  assert.deepEqual(begunUploads.find(place, file('four', 1)), begun)
  const others = {
    'another size': [place, file('five!', 1)],
    'changed since': [place, file('more', 2)],
    'another bucket': [{ ...place, bucket: 'films' }, file('four', 1)],
    'another key': [{ ...place, key: 'dog.mov' }, file('four', 1)],
  } as const
  for (const [what, [at, other]] of Object.entries(others))
    assert.equal(begunUploads.find(at, other), undefined, what)
  begunUploads.forget(place)
  assert.equal(begunUploads.find(place, file('four', 1)), undefined)
})
