// The images of an engine, which is a list of names here; that of the contract of drivers is a true one.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EngineFault, type ContainerEngine } from './engine.ts'
import { createEngineImages } from './images.ts'
import { imageWordOf } from '#workloads/image-place.ts'

const OWN = 'localhost/ergon-x'
const IMAGE = { image: 'acme/api:1', digest: 'sha256:a' }
const NAME = `${OWN}/${imageWordOf(IMAGE)}`

/** Images of the names; those in use are not removed. */
function engineOf(names: Set<string>, used: readonly string[] = []): ContainerEngine {
  const answers = (method: string, path: string): unknown => {
    if (path === '/images/json') return [...names].map((name) => ({ RepoTags: [`${name}:latest`] }))
    const { pathname, searchParams } = new URL(path, 'http://engine')
    const name = pathname.replace(/^\/images\/(.*?)(\/json|\/tag|:latest)?$/, '$1')
    if (!names.has(name)) throw new EngineFault(404, `no such image: ${name}`)
    if (method === 'POST') names.add(searchParams.get('repo') ?? '')
    if (method !== 'DELETE') return undefined
    if (used.includes(name)) throw new EngineFault(409, `in use: ${name}`)
    names.delete(name)
    return undefined
  }
  return {
    ask: async (method, path) => answers(method, path) as never,
    async send(path, body) {
      // The engine sees the end of the files, and not whether all of them came.
      await body.toArray()
      names.add(new URL(path, 'http://engine').searchParams.get('repo') ?? '')
    },
    attach: () => Promise.reject(new Error('not asked')),
  }
}

test('an image whose files could not all be read is not used, also by a later try', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ergon-images-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const names = new Set<string>()
  const images = createEngineImages(engineOf(names), 'x')
  const gone = join(root, 'gone')
  await assert.rejects(images.give(IMAGE, gone), /could not be read/)
  await assert.rejects(images.give(IMAGE, gone), /could not be read/)
  writeFileSync(join(root, 'file'), 'text')
  assert.equal(await images.give(IMAGE, root), NAME)
  assert.deepEqual([...names], [NAME])
})

test('images in use stay, and those behind them go', async () => {
  const names = new Set([`${OWN}/k-a`, `${OWN}/k-b`, `${OWN}/k-c`, 'localhost/other/a'])
  const images = createEngineImages(engineOf(names, [`${OWN}/k-a`]), 'x')
  await images.prune(new Set(['k-c']))
  assert.deepEqual([...names], [`${OWN}/k-a`, `${OWN}/k-c`, 'localhost/other/a'])
})
